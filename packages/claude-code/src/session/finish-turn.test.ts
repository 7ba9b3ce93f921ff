import { expect, test } from "vitest";
import { resultLines } from "./finish-turn.ts";

const frame = { isSidechain: false, sessionId: "s", cwd: "/project" };
const call = (uuid: string, id: string, extra: object = {}) => ({
  ...frame,
  type: "assistant",
  uuid,
  requestId: "req",
  message: { role: "assistant", content: [{ type: "tool_use", id, name: "Bash", input: {} }] },
  ...extra,
});
const result = (uuid: string, id: string) => ({
  ...frame,
  type: "user",
  uuid,
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
});
const user = { ...frame, type: "user", uuid: "u", message: { role: "user", content: "Go." } };

test("adds a result, or a note about an unknown effect, for every open call in order", () => {
  const lines = [user, call("a", "toolu_1"), result("r", "toolu_1"), call("b", "toolu_2"), call("c", "toolu_3")];
  const { added, isOpen } = resultLines(lines, [
    { toolUseId: "toolu_3", content: [{ type: "text", text: "42" }], isError: false, inWords: [] },
  ]);
  expect(isOpen).toBe(true);
  expect(added).toMatchObject([
    {
      ...frame,
      type: "user",
      parentUuid: "c",
      sourceToolAssistantUUID: "b",
      message: { content: [{ tool_use_id: "toolu_2", content: expect.stringContaining("not known"), is_error: true }] },
    },
    {
      type: "user",
      parentUuid: added[0]!["uuid"],
      sourceToolAssistantUUID: "c",
      message: { content: [{ tool_use_id: "toolu_3", content: [{ type: "text", text: "42" }] }] },
    },
  ]);
  expect(JSON.stringify(added[1])).not.toContain("is_error");
  expect(added[0], "what belongs to the answer alone").not.toHaveProperty("requestId");
});

test("continues after the attachments of a message, not beside them", () => {
  const attachment = { ...frame, type: "attachment", uuid: "x", parentUuid: "u" };
  const inWords = [{ type: "text" as const, text: "42" }];
  const { added } = resultLines([user, attachment], [{ toolUseId: "toolu_1", content: [], isError: false, inWords }]);
  expect(added).toMatchObject([{ type: "user", parentUuid: "x", message: { content: inWords } }]);
});

test("adds nothing without open calls, and ignores calls of subagents", () => {
  const lines = [user, call("a", "toolu_1"), result("r", "toolu_1"), call("b", "toolu_2", { isSidechain: true })];
  const known = { toolUseId: "toolu_1", content: [], isError: false, inWords: [{ type: "text" as const, text: "42" }] };
  expect(resultLines(lines, [known]).added).toEqual([]);
});

test("sends the result of a lost call as a message and continues the turn", () => {
  const said = { ...frame, type: "assistant", uuid: "s", message: { content: [{ type: "text", text: "I look." }] } };
  const inWords = [{ type: "text" as const, text: "You called weather: rain" }];
  const { added, isOpen } = resultLines([user, said], [{ toolUseId: "toolu_1", content: [], isError: false, inWords }]);
  expect(isOpen).toBe(true);
  expect(added).toMatchObject([
    { ...frame, type: "user", parentUuid: "s", message: { role: "user", content: inWords } },
  ]);
});

test("is no continuation by itself, as the line before it is", () => {
  const continuation = { ...user, uuid: "m", parentUuid: "u", isMeta: true, promptSource: "system" };
  const inWords = [{ type: "text" as const, text: "42" }];
  const { added } = resultLines([user, continuation], [{ toolUseId: "toolu_1", content: [], isError: false, inWords }]);
  expect(added).toMatchObject([{ ...frame, type: "user", parentUuid: "m" }]);
  expect(added[0]).not.toHaveProperty("isMeta");
  expect(added[0]).not.toHaveProperty("promptSource");
});

test("continues after a message or a result, but not after the model's final answer", () => {
  const said = { ...frame, type: "assistant", uuid: "s", message: { content: [{ type: "text", text: "Done." }] } };
  const isOpen = (...lines: object[]) => resultLines(lines as Record<string, unknown>[], []).isOpen;
  expect(isOpen(user)).toBe(true);
  expect(isOpen(user, call("a", "toolu_1"), result("r", "toolu_1"))).toBe(true);
  expect(isOpen(user, said, { type: "cost-state" })).toBe(false);
  expect(isOpen()).toBe(false);
});
