import type { Message, Part } from "@tandem/protocol";
import { expect, test } from "vitest";
import { contextUsage, lastMeasured } from "./context-usage.ts";

const step = (id: string, read: number, thread: string | null = null, isAnswer = true): Message => ({
  id,
  role: "agent",
  thread,
  turn: "t",
  seq: 1,
  created_at: null,
  parts: [
    {
      type: "step",
      id,
      at: null,
      state: "completed",
      model: "claude-x",
      usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: read, cache_creation_input_tokens: 0 },
      usd: null,
      duration_ms: null,
    },
    ...(isAnswer ? [{ type: "text" as const, id: `${id}-text`, at: null, text: "So it is." }] : []),
  ],
});

test("uses the last request of the main thread", () => {
  expect(contextUsage(lastMeasured([step("a", 100), step("b", 900), step("c", 5_000, "thread")]))).toMatchObject({
    tokens: 915,
    window: 200_000,
  });
  expect(contextUsage(lastMeasured([]))).toBeUndefined();
});

test("takes the window size from the server's model list", () => {
  const models = [
    { id: "claude-y", max_input_tokens: 100 },
    { id: "claude-x", max_input_tokens: 1_000_000 },
  ];
  expect(contextUsage(lastMeasured([step("a", 100)]), models)).toMatchObject({ tokens: 115, window: 1_000_000 });
  const unknown = [{ id: "claude-x", max_input_tokens: null }];
  expect(contextUsage(lastMeasured([step("a", 100)]), unknown)).toMatchObject({ window: 200_000 });
});

test("a compaction frees space", () => {
  const compaction: Part = {
    type: "compaction",
    id: "d",
    at: null,
    trigger: "auto",
    tokens_before: 190_000,
    tokens_after: 20_000,
  };
  const { parts, ...message } = step("a", 190_000);
  const compacted = { ...message, parts: [...parts, compaction] };
  expect(contextUsage(lastMeasured([compacted]))).toMatchObject({ tokens: 20_000, last: undefined });
  // The summary request comes after the compaction and does not count.
  expect(contextUsage(lastMeasured([compacted, step("b", 190_000, null, false)]))).toMatchObject({ tokens: 20_000 });
});
