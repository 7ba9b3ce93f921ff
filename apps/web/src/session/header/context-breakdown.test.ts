import type { Message, Part } from "@tandem/protocol";
import { expect, test } from "vitest";
import { contextBreakdown } from "./context-breakdown.ts";

const message = (role: Message["role"], parts: Part[], more: Partial<Message> = {}): Message => ({
  id: "m",
  role,
  thread: null,
  turn: "t",
  seq: 1,
  created_at: null,
  parts,
  ...more,
});
const words = (tokens: number): Part => ({ type: "text", id: "p", at: null, text: "word".repeat(tokens) });
const compaction: Part = {
  type: "compaction",
  id: "c",
  at: null,
  trigger: "auto",
  tokens_before: null,
  tokens_after: null,
};

test("tokens that are neither messages nor calls count as instructions", () => {
  const messages = [
    message("user", [words(100)]),
    message("agent", [words(300)]),
    message("agent", [words(1_000)], { thread: "sub" }),
    message("user", [words(1_000)], { rewound: "r" }),
  ];
  expect(contextBreakdown(messages, 1_000)).toEqual({ said: 100, answered: 300, tools: 0, rest: 600 });
});

test("ignores compacted messages, and never exceeds the measured total", () => {
  const messages = [message("user", [words(100)]), message("agent", [words(900), compaction, words(400)])];
  expect(contextBreakdown(messages, 200)).toEqual({ said: 0, answered: 200, tools: 0, rest: 0 });
});
