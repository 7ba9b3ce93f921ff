import type { SessionEventBody, ThreadId } from "@tandem/protocol";
import { expect, it } from "vitest";
import type { PastOutput } from "./past-translator.ts";
import { TranscriptReader } from "./transcript-reader.ts";

const read = (...lines: object[]): PastOutput[] => {
  const reader = new TranscriptReader("conversation", "sthr_primary" as ThreadId);
  return [...lines.flatMap((line, index) => reader.accept({ ...line }, String(index))), ...reader.end()];
};

/** The outputs in short form. Usage is covered by real transcripts. */
const told = (...lines: object[]): unknown[] =>
  read(...lines).flatMap(({ output }) => {
    if (output.type === "prompt")
      return [output.content.map((block) => (block.type === "text" ? block.text : block.type))];
    if (output.type === "turn_ended") return [output.outcome.stop];
    if (output.type !== "event" || output.event.type.startsWith("span.")) return [];
    const { event } = output;
    return [shown(event)];
  });

function shown(event: SessionEventBody): unknown {
  if (event.type === "agent.message") return `agent: ${event.content[0]?.text}`;
  if (event.type === "tandem.notice") return `${event.level}: ${event.text}`;
  if (event.type === "tandem.unknown") return `unknown ${event.kind}`;
  if (event.type === "agent.tool_result")
    return `result${event.tandem?.interrupted ? ` (${event.tandem.interrupted})` : ""}`;
  return event.type;
}

let count = 0;
const line = (type: string, more: object) => ({
  type,
  uuid: `uuid-${++count}`,
  timestamp: "2026-11-15T12:00:00.000Z",
  ...more,
});
const user = (content: unknown, more: object = {}) => line("user", { message: { role: "user", content }, ...more });
const usage = { input_tokens: 1, output_tokens: 1 };
const agent = (content: object[], stop: string | null = "end_turn", more: object = {}) =>
  line("assistant", { message: { id: `msg_${count}`, model: "claude-x", usage, stop_reason: stop, content }, ...more });
const says = (text: string) => ({ type: "text", text });
const calls = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const gave = (id: string) => [{ type: "tool_result", tool_use_id: id, content: "ok" }];

it("ends a turn at the next message, and the last one at the end of input", () => {
  expect(told(user("One"), agent([says("1")]), user("Two"), agent([says("2")]))).toEqual([
    ["One"],
    "agent: 1",
    "end_turn",
    ["Two"],
    "agent: 2",
    "end_turn",
  ]);
});

it("gives a line the same ids, whatever follows", () => {
  const lines = [user("One"), agent([says("1")])];
  const ids = (outputs: PastOutput[]) => outputs.flatMap(({ output }) => ("id" in output ? [output.id] : []));
  const once = ids(read(...lines));
  expect(ids(read(...lines, user("Two"))).slice(0, once.length)).toEqual(once);
});

it("recognises interrupted, abandoned and rejected turns", () => {
  const call = agent([calls("toolu_1", "Bash", { command: "ls" })], "tool_use");
  expect(told(user("Go"), call, user("[Request interrupted by user for tool use]"))).toEqual([
    ["Go"],
    "agent.tool_use",
    "result (interrupt)",
    "interrupted",
  ]);
  expect(told(user("Go"), call).at(-1)).toBe("interrupted");
  const failed = agent([says("API Error: 529")], "stop_sequence", { isApiErrorMessage: true, error: "overloaded" });
  const [end] = read(user("Go"), failed).flatMap(({ output }) =>
    output.type === "turn_ended" ? [output.outcome] : [],
  );
  expect(end).toMatchObject({ stop: "error", error: { type: "model_overloaded_error" } });
});

it("distinguishes typed input from Claude Code's own texts", () => {
  expect(
    told(
      user("<command-name>/review</command-name>\n<command-args>main.ts</command-args>"),
      user("What the command stands for", { isMeta: true }),
      user("<local-command-stdout>Set effort to high</local-command-stdout>"),
      user("<bash-input>git log</bash-input>"),
      user("This session is being continued", { isCompactSummary: true }),
      line("attachment", { attachment: { type: "date", date: "2026-11-15" } }),
      line("attachment", { attachment: { type: "queued_command", prompt: "And this too" } }),
      line("system", { subtype: "informational", content: "Mind the gap.", level: "warning" }),
    ),
  ).toEqual([
    ["/review main.ts"],
    "info: Set effort to high",
    "info: ! git log",
    ["And this too"],
    "warning: Mind the gap.",
  ]);
});

it("translates compactions, images and unknown lines, and skips internal notes", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  expect(
    told(
      user([says("Look"), image]),
      line("system", { subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 9_000 } }),
      line("cost-state", {}),
      line("something-new", {}),
      line("system", { subtype: "something_new" }),
      { nothing: true },
    ),
  ).toEqual([
    ["Look", "image"],
    "agent.thread_context_compacted",
    "tandem.compaction",
    "unknown something-new",
    "unknown system/something_new",
    "unknown line",
    "interrupted",
  ]);
});

it("assigns inline subagent lines to the call that started them, by its prompt", () => {
  const side = { isSidechain: true };
  const first = user("Look deeper", side);
  const second = { ...agent([says("Deep.")], "end_turn", side), parentUuid: first.uuid };
  const outputs = read(
    user("Go"),
    agent([calls("toolu_7", "Task", { prompt: "Look deeper", description: "dig" })], "tool_use"),
    first,
    second,
    user(gave("toolu_7")),
    agent([says("Done.")]),
  );
  const threads = outputs.flatMap(({ output }) =>
    output.type === "event" && output.event.type === "agent.message" ? [output.thread !== null] : [],
  );
  expect(threads).toEqual([true, false]);
  expect(told(user("Nobody's", side))).toEqual(["unknown user of a subagent"]);
});

it("keeps lines whose type is a name of Object.prototype", () => {
  const kinds = ["constructor", "toString", "__proto__"];
  expect(told(...kinds.map((kind) => line(kind, {})))).toEqual(kinds.map((kind) => `unknown ${kind}`));
});
