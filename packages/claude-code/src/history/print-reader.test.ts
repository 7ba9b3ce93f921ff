import type { ThreadId } from "@tandem/protocol";
import { expect, it } from "vitest";
import { PrintReader } from "./print-reader.ts";

/** The events of an output, without usage, and how its last turn ended. */
function read(...values: unknown[]) {
  const reader = new PrintReader("conversation", "sthr_primary" as ThreadId);
  const accepted = values.flatMap((value) => reader.accept(value));
  const { outputs, isWhole } = reader.end();
  const all = [...accepted, ...outputs].map(({ output }) => output);
  const events = all.flatMap((output) =>
    output.type === "event" && !/^(span|session)\./.test(output.event.type) ? [output.event] : [],
  );
  return { events, outcome: all.findLast((output) => output.type === "turn_ended")?.outcome, isWhole };
}

const CALL = { id: "toolu_1", name: "Bash", input: { command: "rm x" } };
const DENIAL = { tool_name: "Bash", tool_use_id: "toolu_1", tool_input: { command: "rm x" } };

it("keeps the denials of a result, with the input of a call that no message shows", () => {
  const { events } = read({ type: "result", result: "I could not.", permission_denials: [DENIAL] });
  expect(events).toEqual([
    expect.objectContaining({ type: "agent.message" }),
    {
      type: "tandem.permission_denied",
      name: "Bash",
      tool_use_id: "toolu_1",
      reason: expect.stringContaining('{"command":"rm x"}'),
    },
  ]);
});

it("reports a denial once, though a message and the result have it", () => {
  const { events } = read(
    { type: "assistant", message: { content: [{ type: "tool_use", ...CALL }] } },
    { type: "system", subtype: "permission_denied", ...DENIAL, message: "Not in this mode." },
    { type: "result", result: "I could not.", permission_denials: [DENIAL] },
  );
  const denials = events.filter(({ type }) => type === "tandem.permission_denied");
  expect(denials).toEqual([expect.objectContaining({ tool_use_id: "toolu_1", reason: "Not in this mode." })]);
});

it("keeps the error of a nested tool result", () => {
  const { events } = read(
    { type: "tool_use", tool_use: CALL },
    { type: "tool_result", tool_result: { tool_use_id: "toolu_1", content: "no such file", is_error: true } },
    { type: "result", result: "It failed." },
  );
  expect(events.find(({ type }) => type === "agent.tool_result")).toMatchObject({
    is_error: true,
    content: [{ type: "text", text: "no such file" }],
  });
});

it.each([
  ["beside an empty result", { result: null, error: "The disk is full." }],
  ["as an object", { result: null, error: { type: "io", message: "The disk is full." } }],
  ["as a line", { type: "error", error: { message: "The disk is full." } }],
])("keeps the words of an error %s", (_, value) => {
  const { outcome, isWhole, events } = read(value);
  expect(isWhole).toBe(true);
  expect(JSON.stringify(outcome)).toContain("The disk is full.");
  expect(events).toEqual([]);
});
