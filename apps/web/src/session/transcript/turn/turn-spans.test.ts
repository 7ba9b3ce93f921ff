import type { Message, Part } from "@tandem/protocol";
import { expect, test } from "vitest";
import { turnSpans } from "./turn-spans.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

test("splits a turn into model requests, the wait for a person and the tool that then ran", () => {
  const parts = [
    { type: "step", id: "s", at: at(0), duration_ms: 2_000, model: "opus", state: "completed", usage: null },
    {
      type: "tool",
      id: "t",
      kind: "tool",
      name: "Bash",
      at: at(2),
      permission: { type: "allowed", by: "person", at: at(7) },
      state: { type: "completed", started_at: at(7), ended_at: at(8), output: [] },
    },
  ] as unknown as Part[];
  const message = { id: "m", thread: null, turn: "m", role: "agent", parts } as unknown as Message;
  expect(turnSpans([message]).map(({ kind, label, from, to }) => [kind, label, (to - from) / 1_000])).toEqual([
    ["model", "opus", 2],
    ["waiting", "Bash", 5],
    ["tool", "Bash", 1],
  ]);
});
