import { describe, expect, it } from "vitest";
import { message, type Message } from "./message.ts";
import { project, Projection } from "./projection.ts";
import type { SessionEvent } from "../events/session-event.ts";
import {
  text,
  asks,
  says,
  use,
  result,
  answer,
  running,
  idle,
  start,
  usage,
  end,
  fold,
  partsOf,
  only,
} from "./testing/lines.ts";
import { eventId, log, threadId, timeAt, type Line } from "./testing/log.ts";

it("folds a turn into the user's message and one message per model request", () => {
  const messages = fold(
    { ...asks("hello"), as: "ask" },
    running,
    start("one"),
    says("let me look"),
    use("call", "allow"),
    end("one"),
    result("call", "a.txt"),
    start("two"),
    says("one file"),
    end("two"),
    idle,
    { ...asks("thanks"), as: "again" },
  );
  expect(
    messages.map(({ id, role, turn, seq, created_at, delivery, parts }) => [
      [id, role, turn, seq, created_at, delivery?.type],
      parts.map(({ type }) => type),
    ]),
  ).toEqual([
    [[eventId("ask"), "user", eventId("ask"), 1, timeAt(1), "taken"], ["text"]],
    [
      [eventId("one"), "agent", eventId("ask"), 3, timeAt(3), undefined],
      ["step", "text", "tool"],
    ],
    [
      [eventId("two"), "agent", eventId("ask"), 8, timeAt(8), undefined],
      ["step", "text"],
    ],
    [[eventId("again"), "user", eventId("again"), 12, timeAt(12), "taken"], ["text"]],
  ]);
  expect(messages[1]!.parts[0]).toEqual({
    type: "step",
    id: eventId("one"),
    at: timeAt(3),
    state: "completed",
    model: "claude-sonnet-5-5",
    usage,
    usd: 0.25,
    duration_ms: 3_000,
  });
});

it("shows the content blocks of a user's message", () => {
  const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } } as const;
  const document = { type: "document", source: { type: "file", file_id: "file_1" }, title: "plan" } as const;
  const at = timeAt(1);
  expect(partsOf({ type: "user.message", as: "m", content: [text("see"), image, document] })).toEqual([
    { type: "text", id: "sevt_m", at, text: "see" },
    { type: "file", id: "sevt_m.1", at, file: image },
    { type: "file", id: "sevt_m.2", at, file: document },
  ]);
});

it("keeps a steering message within the turn", () => {
  const turns = fold({ ...asks("go"), as: "go" }, running, start("s"), asks("left"), says("ok"), idle, asks("bye"));
  expect(turns.map(({ role, turn }) => `${role} ${turn}`)).toEqual([
    "user sevt_go",
    "agent sevt_go",
    "user sevt_go",
    "agent sevt_go",
    "user sevt_e7",
  ]);
});

describe("tools", () => {
  const state = (...lines: Line[]) => {
    const part = only(...lines);
    return part.type === "tool" ? { permission: part.permission, state: part.state } : undefined;
  };
  const output = [text("done")];

  it.each<[string, Line[], object]>([
    [
      "runs at once where policy allows it",
      [use("t", "allow")],
      {
        permission: { type: "allowed", by: "policy", at: timeAt(1) },
        state: { type: "running", started_at: timeAt(1) },
      },
    ],
    [
      "waits for a person",
      [use("t", "ask")],
      { permission: { type: "asked", at: timeAt(1) }, state: { type: "pending" } },
    ],
    [
      "starts when a person allows it, and ends with its result",
      [use("t", "ask"), answer("t", "allow"), result("t", "done")],
      {
        permission: { type: "allowed", by: "person", at: timeAt(2) },
        state: { type: "completed", started_at: timeAt(2), ended_at: timeAt(3), output },
      },
    ],
    [
      "never starts where a person denies it",
      [use("t", "ask"), answer("t", "deny", "not now"), result("t", "done", { is_error: true })],
      {
        permission: { type: "denied", by: "person", reason: "not now", at: timeAt(2) },
        state: { type: "error", started_at: null, ended_at: timeAt(3), output },
      },
    ],
    [
      "counts the first answer",
      [use("t", "ask"), answer("t", "allow"), answer("t", "deny")],
      {
        permission: { type: "allowed", by: "person", at: timeAt(2) },
        state: { type: "running", started_at: timeAt(2) },
      },
    ],
    [
      "is over before its result where policy denies it",
      [use("t", "deny")],
      {
        permission: { type: "denied", by: "policy", reason: null, at: timeAt(1) },
        state: { type: "error", started_at: null, ended_at: timeAt(1), output: [] },
      },
    ],
    [
      "says why Claude Code refused it, found by the model's id",
      [use("t"), { type: "tandem.permission_denied", name: "Bash", tool_use_id: "toolu_t", reason: "a rule" }],
      {
        permission: { type: "denied", by: "claude_code", reason: "a rule", at: timeAt(2) },
        state: { type: "error", started_at: null, ended_at: timeAt(2), output: [] },
      },
    ],
    [
      "fails with its error",
      [use("t"), result("t", "done", { is_error: true })],
      { permission: null, state: { type: "error", started_at: timeAt(1), ended_at: timeAt(2), output } },
    ],
    [
      "is an error of unknown effect where it was interrupted",
      [use("t"), result("t", "done", { tandem: { interrupted: "interrupt" } })],
      {
        permission: null,
        state: { type: "error", started_at: timeAt(1), ended_at: timeAt(2), output, interrupted: "interrupt" },
      },
    ],
  ])("%s", (_, lines, expected) => {
    expect(state(...lines)).toEqual(expected);
  });

  it("distinguishes built-in, MCP and custom tools, and matches results of parallel calls by id", () => {
    const common = { name: "find", input: { q: 1 }, tandem: { tool_use_id: "toolu" } };
    const parts = partsOf(
      use("a"),
      { type: "agent.mcp_tool_use", as: "b", mcp_server_name: "wiki", ...common },
      { type: "agent.custom_tool_use", as: "c", ...common },
      { type: "user.custom_tool_result", custom_tool_use_id: eventId("c"), content: [text("of c")] },
      { type: "agent.mcp_tool_result", mcp_tool_use_id: eventId("b"), content: [text("of b")] },
      // Late: the call already has its result.
      { type: "user.custom_tool_result", custom_tool_use_id: eventId("c"), content: [text("twice")] },
      result("a", "of a"),
    );
    expect(parts.map((part) => part.type === "tool" && [part.kind, part.name, part.server, part.state])).toMatchObject([
      ["builtin", "Bash", undefined, { type: "completed", output: [text("of a")] }],
      ["mcp", "find", "wiki", { type: "completed", output: [text("of b")] }],
      ["custom", "find", undefined, { type: "completed", output: [text("of c")] }],
    ]);
  });

  it("keeps the hunks with the tool and summarises them at the turn's end", () => {
    const patch = (path: string, kind: "create" | "update", ...lines: string[]) => ({
      path,
      kind,
      hunks: [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines }],
    });
    const made = patch("new.ts", "create", "+a", "+b");
    const parts = partsOf(
      asks("write"),
      use("t1"),
      result("t1", "", { tandem: { patch: made } }),
      use("t2"),
      result("t2", "", { tandem: { patch: patch("new.ts", "update", " a", "-b", "+c") } }),
      use("t3"),
      result("t3", "", { tandem: { patch: { path: "whole.ts", kind: "create", hunks: [] } } }),
      idle,
      asks("rest"),
      idle,
    );
    expect(parts[1]).toMatchObject({ type: "tool", state: { type: "completed", patch: made } });
    expect(parts.filter(({ type }) => type === "patch")).toEqual([
      {
        type: "patch",
        id: "sevt_e8.1",
        at: timeAt(8),
        files: [
          { path: "new.ts", kind: "create", added: 3, removed: 1, tools: ["sevt_t1", "sevt_t2"] },
          { path: "whole.ts", kind: "create", added: null, removed: 0, tools: ["sevt_t3"] },
        ],
      },
    ]);
  });

  it("closes calls that a recovery found open", () => {
    const [tool, recovery] = partsOf(use("t"), {
      type: "tandem.recovered",
      cause: "the server died",
      closed: [eventId("t")],
    });
    expect(tool).toMatchObject({ state: { type: "error", interrupted: "crash" } });
    expect(recovery).toMatchObject({ type: "recovery", cause: "the server died", closed: ["sevt_t"] });
  });
});

describe("reasoning", () => {
  const fact: Line = { type: "agent.thinking", as: "think" };
  const told: Line = { type: "tandem.thinking", thinking_id: eventId("think"), text: "hm", signature: "sig" };
  it.each<[string, Line[], object]>([
    ["with text and signature", [fact, told], { type: "reasoning", text: "hm", signature: "sig" }],
    ["told before the fact", [told, fact], { type: "reasoning", text: "hm", signature: "sig" }],
    ["of which only the fact is known", [fact], { type: "reasoning", text: "", signature: null }],
    [
      "that is redacted",
      [fact, { type: "tandem.thinking_redacted", thinking_id: eventId("think"), data: "x9" }],
      { type: "redacted_reasoning", data: "x9" },
    ],
  ])("%s is one part", (_, lines, expected) => {
    expect(only(...lines)).toMatchObject({ id: "sevt_think", ...expected });
  });
});

describe("the input queue", () => {
  const waiting = (name: string): SessionEvent => ({
    type: "user.message",
    id: eventId(name),
    processed_at: null,
    content: [text(name)],
  });
  const seen = (messages: readonly Message[]) => messages.map(({ id, delivery }) => `${id} ${delivery?.type}`);

  it("shows a waiting message at the end, and in its place once it is taken", () => {
    const entries = log({ ...asks("first"), as: "first" }, says("hm"), idle, { ...asks("next"), as: "next" });
    const projection = new Projection();
    projection.applyWaiting(waiting("next"));
    projection.applyWaiting(waiting("later"));
    for (const entry of entries.slice(0, 2)) projection.apply(entry);
    expect(seen(projection.messages)).toEqual([
      "sevt_first taken",
      "sevt_e2 undefined",
      "sevt_next waiting",
      "sevt_later waiting",
    ]);
    for (const entry of entries) projection.apply(entry);
    expect(seen(projection.messages).slice(2)).toEqual(["sevt_next taken", "sevt_later waiting"]);
    // The response to the send arrives after the stream reported that it was taken.
    projection.applyWaiting(waiting("next"));
    expect(projection.messages).toEqual(project(entries, [waiting("later")]));
    for (const each of projection.messages) expect(message.parse(each)).toEqual(each);
  });

  it.each([
    ["before it was taken", [], [waiting("m")]],
    ["after", [{ ...asks("m"), as: "m" }], []],
  ])("marks a message that was dropped %s, which is no turn", (_, before: Line[], waiting: SessionEvent[]) => {
    const projection = new Projection();
    for (const event of waiting) projection.applyWaiting(event);
    const dropped: Line = { type: "tandem.dropped", event_id: eventId("m"), reason: "archived" };
    for (const entry of log(...before, dropped, { type: "tandem.notice", level: "info", text: "so" })) {
      projection.apply(entry);
    }
    expect(projection.messages).toMatchObject([
      { id: "sevt_m", turn: null, delivery: { type: "dropped", reason: "archived" } },
      { role: "session", turn: null },
    ]);
  });

  it("ignores events that are no messages", () => {
    const interrupt: SessionEvent = { type: "user.interrupt", id: eventId("i"), processed_at: null };
    expect(project([], [interrupt])).toEqual([]);
  });
});

describe("a fold that starts in the middle", () => {
  it.each<[string, Line, object]>([
    ["a result", result("lost", "out"), { type: "tool", id: "sevt_lost", kind: "builtin", name: null, input: null }],
    ["an answer", answer("lost", "allow"), { type: "tool", id: "sevt_lost", permission: { type: "allowed" } }],
    [
      "a request's end",
      end("lost"),
      { type: "step", id: "sevt_lost", state: "completed", usage, duration_ms: null, model: "claude-sonnet-5-5" },
    ],
    [
      "a report",
      {
        type: "agent.thread_message_received",
        from_session_thread_id: threadId("x"),
        from_agent_name: "x",
        content: [text("r")],
      },
      { type: "subtask", id: "sthr_x", agent: "x", exchange: [{ type: "received" }] },
    ],
    [
      "what was thought",
      { type: "tandem.thinking", thinking_id: eventId("lost"), text: "hm", signature: null },
      { type: "reasoning", id: "sevt_lost", text: "hm" },
    ],
  ])("shows %s as a part of its own, under the id of what it belongs to", (_, line, expected) => {
    expect(only(line)).toMatchObject(expected);
  });

  it("keeps the errors that an edit added, and its result", () => {
    const items = [{ path: "a.ts", line: 3, column: 1, message: "wrong" }];
    const found: Line = {
      type: "tandem.diagnostics",
      event_id: eventId("lost"),
      server: "typescript",
      diagnostics: items,
      total: 2,
    };
    const diagnostics = { server: "typescript", items, total: 2 };
    expect(only(use("lost"), found, result("lost", "out"))).toMatchObject({ name: "Bash", diagnostics });
    expect(only(found, result("lost", "out"))).toMatchObject({ diagnostics, state: { type: "completed" } });
  });

  it("merges an answer and its result", () => {
    expect(only(answer("lost", "allow"), result("lost", "out"))).toMatchObject({
      permission: { type: "allowed" },
      state: { type: "completed", output: [text("out")] },
    });
  });
});
