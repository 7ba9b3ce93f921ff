import { expect, test } from "vitest";
import { loadShippedEvals, measureEvals } from "../bench/evals/measure-evals.ts";

const TRAPS = [
  "cross-system-union",
  "currency",
  "dedup-migration",
  "enum-drift",
  "fiscal-calendar",
  "grain-mismatch",
  "identity-dedup",
  "refund-double-count",
  "returns-vs-refunds",
  "same-name-diff-meaning",
  "semi-additive",
  "sentinel-null",
  "test-and-deleted",
  "timezone",
  "unit-cents",
];

test("60 questions cover all traps, half of them by another hand", async () => {
  const questions = (await loadShippedEvals()).flatMap(({ file }) => file.questions);
  expect(questions).toHaveLength(60);
  expect(questions.filter(({ tags }) => tags.includes("chat"))).toHaveLength(30);
  expect(
    questions.filter(({ expect: { kind } }) => kind === "abstain" || kind === "clarify").length,
  ).toBeGreaterThanOrEqual(10);
  const tags = new Set(questions.flatMap((question) => question.tags));
  expect(TRAPS.filter((trap) => !tags.has(trap))).toEqual([]);
});

/** `npm run bench evals` prints the figures; these are the targets that they may not fall below. */
test("their gold answers hold, and the context finds what they need", async () => {
  for (const { name, report } of await measureEvals()) {
    const { gold, values, joins, perturbed, discriminating } = report.checks;
    expect([gold.missed, values.missed, joins.missed, perturbed.missed], name).toEqual([[], [], [], []]);
    expect(discriminating, name).toBeGreaterThanOrEqual(14);
    expect(report.missed, name).toEqual([]);
  }
});
