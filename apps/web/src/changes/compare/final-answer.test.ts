import type { Message } from "@tandem/protocol";
import { expect, test } from "vitest";
import { finalAnswer } from "./final-answer.ts";

const message = (seq: number, text: string | undefined, more: Partial<Message> = {}): Message => ({
  id: `m${seq}`,
  role: "agent",
  thread: null,
  turn: null,
  seq,
  created_at: null,
  parts: text === undefined ? [] : [{ type: "text", id: `p${seq}`, at: null, text }],
  ...more,
});

test("the final answer is the agent's last text", () => {
  expect(finalAnswer([message(3, undefined), message(2, "Done."), message(1, "I begin.")])).toBe("Done.");
});

test("ignores rewound messages, user messages and other threads", () => {
  const others = [
    message(9, "Go on", { role: "user" }),
    message(8, "Sub", { thread: "sthr_1" }),
    message(7, "Gone", { rewound: "sevt_1" }),
  ];
  expect(finalAnswer([...others, message(1, "First.")])).toBe("First.");
  expect(finalAnswer(others)).toBeUndefined();
});
