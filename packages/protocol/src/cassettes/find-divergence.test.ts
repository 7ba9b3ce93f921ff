import { expect, test } from "vitest";
import type { CassetteStep } from "./cassette.ts";
import { findDivergence } from "./find-divergence.ts";

const answer = (text: string) => ({
  type: "message" as const,
  model: "claude-haiku-5-5",
  content: [{ type: "text", text }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  usd: null,
});

/** Two model requests of one subagent. */
const RECORDED: CassetteStep[] = [1, 2].map((step) => ({
  step,
  kind: "model",
  thread: "toolu_a",
  seq: step,
  added: [],
  answer: answer(`Answer ${step}.`),
}));

test("the end of a subagent's answer may come after its next request, but not be missing at the end", () => {
  const run = RECORDED.map((step) => (step.step === 1 ? { ...step, answer: null } : step)) as CassetteStep[];
  expect(findDivergence(RECORDED, run, { mode: "recorded", isRunning: true })).toBeUndefined();
  expect(findDivergence(RECORDED, run, { mode: "recorded" })).toMatchObject({ step: 1, kind: "model" });
});

test("a running session differs as soon as an answer does", () => {
  const run = RECORDED.map((step) => (step.step === 1 ? { ...step, answer: answer("Another.") } : step));
  expect(findDivergence(RECORDED, run as CassetteStep[], { mode: "recorded", isRunning: true })).toMatchObject({
    step: 1,
  });
});
