import type { Message, PartOf } from "@tandem/protocol";
import { expect, test } from "vitest";
import { cacheMissOf, lastStepOf } from "./cache-miss.ts";

const step = (minute: number, cached: number, model = "sonnet"): PartOf<"step"> => ({
  type: "step",
  id: `s${minute}`,
  at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  state: "completed",
  model,
  usage: {
    input_tokens: 20_000 - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 10,
  },
  usd: null,
  duration_ms: 2_000,
});
const turn = (...parts: Message["parts"]): Message[] => [
  { id: "a", role: "agent", thread: null, turn: "u", seq: 1, created_at: null, parts },
];

test("no explanation for a cache hit or a first request", () => {
  expect(cacheMissOf(turn(step(0, 0)), undefined)).toBeUndefined();
  expect(cacheMissOf(turn(step(1, 19_000), step(2, 18_000)), step(0, 0))).toBeUndefined();
});

test("explains a request that reads everything again", () => {
  expect(cacheMissOf(turn(step(1, 0, "opus")), step(0, 0))).toBe("the model changed from sonnet");
  expect(cacheMissOf(turn(step(12, 0)), step(0, 0))).toBe("11 min 58 s passed since the previous request");
  expect(cacheMissOf(turn(step(1, 0)), step(0, 0))).toMatch(/^tools, instructions/);
  const compaction: Message["parts"][number] = {
    type: "compaction",
    id: "c",
    at: null,
    trigger: "auto",
    tokens_before: null,
    tokens_after: null,
  } as never;
  expect(cacheMissOf(turn(compaction, step(1, 0)), step(0, 0))).toBe("the conversation was compacted");
});

test("also in the middle of a turn", () => {
  const steps = turn(step(1, 19_000), step(9, 0));
  expect(cacheMissOf(steps, step(0, 0))).toMatch(/7 min 58 s passed/);
  expect(lastStepOf(steps)?.id).toBe("s9");
});
