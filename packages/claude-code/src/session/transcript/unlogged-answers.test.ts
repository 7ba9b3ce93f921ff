import { expect, test } from "vitest";
import { unloggedAnswers } from "./unlogged-answers.ts";

const usage = { input_tokens: 3, output_tokens: 5 };
const said = (id: string, text: string, more: object = {}) => ({
  type: "assistant",
  message: { id, model: "claude-sonnet-5-5", usage, content: [{ type: "text", text }] },
  ...more,
});
const user = { type: "user", message: { role: "user", content: "Go." } };
const nothing = { texts: new Map(), counted: new Set<string>() };

test("finds the texts and the usage that the log lacks", () => {
  const lines = [said("msg_0", "Before."), user, said("msg_1", "One."), said("msg_1", "Two."), said("msg_2", "Three.")];
  expect(unloggedAnswers(lines, { texts: new Map([["msg_1", 1]]), counted: new Set(["msg_1"]) })).toEqual([
    { id: "msg_1", model: "claude-sonnet-5-5", usage, texts: ["Two."], isCounted: true },
    { id: "msg_2", model: "claude-sonnet-5-5", usage, texts: ["Three."], isCounted: false },
  ]);
});

test("finds nothing in a log that has all, or in text of Claude Code or of subagents", () => {
  const known = { texts: new Map([["msg_1", 1]]), counted: new Set(["msg_1"]) };
  expect(unloggedAnswers([user, said("msg_1", "One.")], known)).toEqual([]);
  const failed = said("msg_2", "API Error", { isApiErrorMessage: true });
  const aside = said("msg_3", "Aside.", { isSidechain: true });
  expect(unloggedAnswers([user, failed, aside], nothing)).toEqual([]);
});
