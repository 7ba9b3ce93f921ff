import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { EventId, ThreadId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { nameTool } from "./calls.ts";
import { Translator } from "./translator.ts";

const newTranslator = (): Translator => {
  let ids = 0;
  return new Translator({
    newEventId: () => `sevt_${++ids}` as EventId,
    threadIdOf: (id) => `sthr_${id}` as ThreadId,
    primaryThread: "sthr_primary" as ThreadId,
    names: { customServer: "tandem", mcpServers: [] },
    outputExpected: false,
    judge: () => ({ permission: "allow" }),
  });
};

/** Messages that recorded sessions do not contain, but real ones may. */
const accept = (...messages: object[]) => {
  const translator = newTranslator();
  return messages
    .flatMap((message) => translator.accept({ type: "message", message: message as SDKMessage }))
    .map((output) => (output.type === "event" ? output.event : output));
};

test("keeps an unknown message as it is", () => {
  const news = { type: "system", subtype: "brand_new", what: 1 };
  expect(accept(news, { type: "also_new" })).toEqual([
    { type: "tandem.unknown", kind: "system/brand_new", message: news },
    { type: "tandem.unknown", kind: "also_new", message: { type: "also_new" } },
  ]);
});

test("a waiting call that names itself as parent starts no thread", () => {
  const progress = { type: "tool_progress", tool_use_id: "toolu_1", parent_tool_use_id: "toolu_1", tool_name: "Bash" };
  expect(accept({ ...progress, elapsed_time_seconds: 30 })).toEqual([]);
});

test("drops known noise", () => {
  expect(accept({ type: "system", subtype: "thinking_tokens" }, { type: "keep_alive" })).toEqual([]);
});

test("keeps results of unknown calls and unknown user text", () => {
  const result = { type: "tool_result", tool_use_id: "toolu_9", content: "?" };
  const words = { type: "text", text: "Something new." };
  const content = [result, words];
  expect(accept({ type: "user", parent_tool_use_id: null, message: { role: "user", content } })).toMatchObject([
    { type: "tandem.unknown", kind: "user/tool_result", message: result },
    { type: "tandem.unknown", kind: "user/text", message: words },
  ]);
});

test("emits denials, notices and losses", () => {
  expect(
    accept(
      { type: "system", subtype: "permission_denied", tool_name: "Bash", tool_use_id: "toolu_1", message: "No." },
      { type: "system", subtype: "informational", content: "Mind the gap.", level: "warning" },
      { type: "system", subtype: "notification", text: "Ding.", priority: "low", key: "k" },
      { type: "system", subtype: "session_writes_lost", error_code: "ENOSPC", lost: ["transcript"] },
      { type: "auth_status", isAuthenticating: false, output: [], error: "Logged out." },
    ),
  ).toEqual([
    { type: "tandem.permission_denied", name: "Bash", tool_use_id: "toolu_1", reason: "No." },
    { type: "tandem.notice", level: "warning", text: "Mind the gap." },
    { type: "tandem.notice", level: "info", text: "Ding." },
    { type: "tandem.notice", level: "error", text: "Claude Code could not write to its disk (ENOSPC)." },
    { type: "tandem.notice", level: "warning", text: "Logged out." },
  ]);
});

test("emits a limit when it changes, and not while it is fine", () => {
  const limit = (status: string, utilization?: number) => ({
    type: "rate_limit_event",
    rate_limit_info: { status, ...(utilization !== undefined && { utilization }) },
  });
  expect(
    accept(
      limit("allowed"),
      limit("allowed", 0.5),
      limit("allowed_warning", 0.8),
      limit("allowed_warning", 0.8),
      limit("allowed_warning", 0.9),
      limit("allowed", 0),
      limit("allowed", 0.1),
    ),
  ).toEqual([
    { type: "tandem.rate_limit", status: "allowed_warning", utilization: 0.8 },
    { type: "tandem.rate_limit", status: "allowed_warning", utilization: 0.9 },
    { type: "tandem.rate_limit", status: "allowed", utilization: 0 },
  ]);
});

test.each([
  ["Bash", { kind: "builtin", name: "Bash" }],
  ["mcp__tandem__ask", { kind: "custom", name: "ask" }],
  ["mcp__a__b__look", { kind: "mcp", name: "look", mcpServer: "a__b" }],
  ["mcp__a__look", { kind: "mcp", name: "look", mcpServer: "a" }],
  ["mcp__nobody__look__up", { kind: "mcp", name: "look__up", mcpServer: "nobody" }],
])("resolves server and tool of %s", (full, named) => {
  expect(nameTool(full, { customServer: "tandem", mcpServers: ["a", "a__b"] })).toEqual(named);
});

/** The start of a streamed answer. */
const begun = (text: string, message = "msg_1") =>
  [
    { type: "message_start", message: { id: message, model: "claude-sonnet-5-5", usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  ].map((event) => ({ type: "stream_event", parent_tool_use_id: null, event }));

const isMessage = ({ type }: { type: string }): boolean => type === "agent.message";

test("keeps partial text when the process dies", () => {
  const translator = newTranslator();
  for (const message of begun("It begins")) translator.accept({ type: "message", message: message as SDKMessage });
  const outputs = translator.accept({ type: "ended", error: undefined, turnExpected: true });
  expect(outputs.flatMap((output) => (output.type === "event" ? [output.event] : [])).filter(isMessage)).toEqual([
    {
      type: "agent.message",
      content: [{ type: "text", text: "It begins" }],
      tandem: { message_id: "msg_1", interrupted: "stopped" },
    },
  ]);
});

test("drops partial text before a retry, so that it is not emitted twice", () => {
  const whole = {
    id: "msg_2",
    model: "claude-sonnet-5-5",
    content: [{ type: "text", text: "It begins well." }],
    usage: {},
  };
  const said = accept(
    ...begun("It begins"),
    {
      type: "system",
      subtype: "api_retry",
      attempt: 1,
      max_retries: 3,
      retry_delay_ms: 1,
      error_status: 529,
      error: "overloaded",
    },
    ...begun("It begins well.", "msg_2"),
    { type: "assistant", parent_tool_use_id: null, message: whole },
  );
  expect(said.filter(isMessage)).toMatchObject([
    { content: [{ text: "It begins well." }], tandem: { message_id: "msg_2" } },
  ]);
});
