import type { EvalResult, EvalTrial } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { compareRuns } from "./compare-runs.ts";
import { passHatK, scoreEvals, wilson } from "./score-evals.ts";

const trial = (outcome: EvalTrial["outcome"], passed = outcome === "correct"): EvalTrial => ({
  outcome,
  passed,
  reason: passed ? null : "other rows",
  answer: "SELECT 1",
  verdict: null,
  steps: 2,
  input_tokens: 100,
  output_tokens: 10,
  usd: 0.01,
  recorded: false,
});

const result = (question: string, tags: string[], ...trials: EvalTrial[]): EvalResult => ({
  file: "evals/shop.yaml",
  question,
  arm: "bare",
  tags,
  ask: "?",
  trials,
});

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

test("pass^k is C(c,k) / C(n,k)", () => {
  for (let n = 1; n <= 8; n += 1) {
    for (let c = 0; c <= n; c += 1) {
      for (let k = 1; k <= n; k += 1) {
        const expected = c < k ? 0 : choose(c, k) / choose(n, k);
        expect(passHatK(c, n, k)).toBeCloseTo(expected, 12);
      }
    }
  }
});

test("Wilson intervals are those of the textbook", () => {
  expect(wilson(0.5, 10).low).toBeCloseTo(0.2366, 4);
  expect(wilson(0.5, 10).high).toBeCloseTo(0.7634, 4);
  expect(wilson(1, 20).low).toBeCloseTo(0.8389, 4);
  expect(wilson(1, 20).high).toBe(1);
  expect(wilson(0, 20).high).toBeCloseTo(0.1611, 4);
});

describe("scores", () => {
  const results = [
    result("always", ["joins"], trial("correct"), trial("correct"), trial("correct")),
    result("mostly", ["joins", "dates"], trial("correct"), trial("correct"), trial("wrong")),
    result("never", ["dates"], trial("wrong"), trial("failed"), trial("abstained")),
  ];

  test("weigh questions equally, per arm and tag", () => {
    const scores = scoreEvals(results, 3);
    expect(scores.map(({ tag, questions }) => [tag, questions])).toEqual([
      [null, 3],
      ["dates", 2],
      ["joins", 2],
    ]);
    expect(scores[0]!.pass_at_1.value).toBeCloseTo((1 + 2 / 3) / 3, 12);
    expect(scores[0]!.pass_hat_k.value).toBeCloseTo(1 / 3, 12);
    expect(scores[0]!.wrong_but_confident.value).toBeCloseTo((1 / 3 + 1 / 3) / 3, 12);
    expect(scores[0]).toMatchObject({ k: 3, trials: 9, tokens: 990 });
    expect(scores[0]!.usd).toBeCloseTo(0.09, 12);
  });

  test("questions without a finished trial do not count", () => {
    const [score] = scoreEvals([results[0]!, result("cut", [])], 3);
    expect(score).toMatchObject({ questions: 1, k: 3 });
    expect(score!.pass_at_1.value).toBe(1);
  });

  test("a change fixes, breaks or shifts questions", () => {
    const after = [
      result("always", ["joins"], trial("correct"), trial("wrong"), trial("correct")),
      result("mostly", ["joins"], trial("correct"), trial("correct"), trial("correct")),
      result("never", ["dates"], trial("wrong"), trial("failed"), trial("correct")),
      result("new", [], trial("correct")),
    ];
    const { compared, fixes, breaks, changed, missing } = compareRuns(results, after);
    expect(compared).toBe(3);
    expect(fixes).toMatchObject([{ question: "mostly", before: "2/3", after: "3/3" }]);
    expect(breaks).toMatchObject([{ question: "always", before: "3/3", after: "2/3", reason: "other rows" }]);
    expect(changed).toMatchObject([{ question: "never", before: "0/3", after: "1/3" }]);
    expect(missing).toMatchObject([{ question: "new" }]);
  });
});
