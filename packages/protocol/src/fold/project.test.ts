import { describe, expect, it } from "vitest";
import { message, type Message, type Part } from "./message.ts";
import { project, Projection } from "./project.ts";
import type { Permission, SessionEvent } from "../events/session-event.ts";
import { eventId, log, threadId, timeAt, type Line } from "./testing/log.ts";

const text = (words: string) => ({ type: "text", text: words }) as const;
const asks = (words: string): Line => ({ type: "user.message", content: [text(words)] });
const says = (words: string): Line => ({ type: "agent.message", content: [text(words)] });
const use = (as: string, permission?: Permission): Line => ({
  type: "agent.tool_use",
  as,
  name: "Bash",
  input: { command: "ls" },
  ...(permission && { evaluated_permission: permission }),
  tandem: { tool_use_id: `toolu_${as}` },
});
const result = (of: string, words: string, more: object = {}): Line => ({
  type: "agent.tool_result",
  tool_use_id: eventId(of),
  content: [text(words)],
  ...more,
});
const answer = (of: string, given: "allow" | "deny", deny_message?: string): Line => ({
  type: "user.tool_confirmation",
  tool_use_id: eventId(of),
  result: given,
  deny_message,
});
const running: Line = { type: "session.status_running" };
const idle: Line = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
const start = (as: string): Line => ({ type: "span.model_request_start", as });
const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 1 };
const end = (of: string): Line => ({
  type: "span.model_request_end",
  model_request_start_id: eventId(of),
  is_error: false,
  model_usage: usage,
  tandem: { model: "claude-sonnet-5-5", usd: 0.25 },
});

/** The messages of a log, validated against their schema. */
function fold(...lines: Line[]): readonly Message[] {
  const messages = project(log(...lines));
  for (const each of messages) expect(message.parse(each)).toEqual(each);
  return messages;
}
const partsOf = (...lines: Line[]): Part[] => fold(...lines).flatMap(({ parts }) => parts);
const only = (...lines: Line[]): Part => {
  const parts = partsOf(...lines);
  expect(parts).toHaveLength(1);
  return parts[0]!;
};

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

describe("notices", () => {
  const error = (type: "retrying" | "exhausted") => ({
    type: "model_overloaded_error" as const,
    message: "busy",
    retry_status: { type },
  });
  const retry = (attempt: number): Line => ({
    type: "tandem.retry",
    attempt,
    max_attempts: 10,
    delay_ms: 500,
    status: 529,
    reason: "overloaded",
  });
  const stopped = (type: "budget_reached" | "retries_exhausted"): Line => ({
    type: "session.status_idle",
    stop_reason: { type },
    stop_details: null,
  });
  const counted: Line = { type: "tandem.compaction", trigger: "auto", tokens_before: 900, tokens_after: 90 };
  const compacted: Line = { type: "agent.thread_context_compacted" };

  it.each<[string, Line[], object[]]>([
    [
      "tries in a row are one part, with what the error said",
      [{ type: "session.error", error: error("retrying") }, retry(1), retry(2)],
      [
        {
          type: "retry",
          id: "sevt_e1",
          at: timeAt(3),
          attempt: 2,
          max_attempts: 10,
          status: 529,
          reason: "overloaded",
        },
      ],
    ],
    [
      "an error that ends the turn, and why it ended",
      [{ type: "session.error", error: error("exhausted") }, stopped("retries_exhausted")],
      [
        { type: "error", error: error("exhausted") },
        { type: "stop", reason: "retries_exhausted" },
      ],
    ],
    ["a budget that is used up", [stopped("budget_reached")], [{ type: "stop", reason: "budget_reached" }]],
    [
      "a refusal with its details",
      [
        {
          type: "session.status_idle",
          stop_reason: { type: "refusal" },
          stop_details: { type: "refusal", category: "bio", explanation: "no" },
        },
      ],
      [{ type: "stop", reason: "refusal", category: "bio", explanation: "no" }],
    ],
    [
      "a compaction told by two events",
      [compacted, counted],
      [{ type: "compaction", trigger: "auto", tokens_before: 900, tokens_after: 90 }],
    ],
    ["the same in the other order", [counted, compacted], [{ type: "compaction", trigger: "auto" }]],
    [
      "two compactions with a request between them",
      [compacted, counted, start("s"), compacted, counted],
      [{ type: "compaction" }, { type: "step" }, { type: "compaction", tokens_before: 900 }],
    ],
    [
      "a model in the place of another",
      [{ type: "tandem.model_fallback", from: "opus", to: "sonnet", reason: "overloaded" }],
      [{ type: "notice", level: "warning", text: "sonnet answers instead of opus: overloaded" }],
    ],
    [
      "a limit, and not its absence",
      [
        { type: "tandem.rate_limit", status: "allowed" },
        { type: "tandem.rate_limit", status: "rejected", kind: "five_hour", resets_at: "2026-11-15T05:00:00Z" },
      ],
      [{ type: "notice", text: "Rate limit (five_hour): rejected, until 2026-11-15T05:00:00Z" }],
    ],
    ["the object of a turn", [{ type: "tandem.output", value: { a: [1] } }], [{ type: "output", value: { a: [1] } }]],
    ["an interrupt", [asks("go"), { type: "user.interrupt" }], [{ type: "text" }, { type: "interruption" }]],
    ["but not one that found nothing to end", [asks("go"), idle, { type: "user.interrupt" }], [{ type: "text" }]],
    [
      "nor one for another turn",
      [asks("go"), { type: "user.interrupt", tandem: { turn_event_id: "sevt_other" } }],
      [{ type: "text" }],
    ],
  ])("%s", (_, lines, expected) => {
    const parts = partsOf(...lines);
    expect(parts).toMatchObject(expected);
    expect(parts).toHaveLength(expected.length);
  });

  it("are part of the agent's open message, else of a session message", () => {
    const notice: Line = { type: "tandem.notice", level: "info", text: "by the way" };
    const roles = fold(notice, notice, asks("go"), start("s"), notice, says("ok"), idle, notice);
    expect(roles.map(({ role, turn, parts }) => [role, turn, parts.map(({ type }) => type)])).toEqual([
      ["session", null, ["notice", "notice"]],
      ["user", "sevt_e3", ["text"]],
      ["agent", "sevt_e3", ["step", "notice", "text"]],
      ["session", null, ["notice"]],
    ]);
  });

  it("shows the latest to-do list of a message", () => {
    const todos = (status: "pending" | "completed"): Line => ({
      type: "tandem.todo",
      todos: [{ id: "1", content: "test", status }],
    });
    expect(partsOf(start("s"), todos("pending"), says("on it"), todos("completed"))).toMatchObject([
      { type: "step" },
      { type: "todo", id: "sevt_e2", todos: [{ status: "completed" }] },
      { type: "text" },
    ]);
  });
});

describe("subagents", () => {
  const thread = threadId("a");
  const created: Line = {
    type: "session.thread_created",
    session_thread_id: thread,
    agent_name: "x",
    workflow_run_id: null,
  };
  const status = (type: "running" | "idle"): Line =>
    type === "running"
      ? { type: "session.thread_status_running", session_thread_id: thread, agent_name: "x" }
      : {
          type: "session.thread_status_idle",
          session_thread_id: thread,
          agent_name: "x",
          stop_reason: { type: "end_turn" },
          stop_details: null,
        };
  const told: Line = {
    type: "agent.thread_message_sent",
    to_session_thread_id: thread,
    to_agent_name: "x",
    content: [text("find it")],
  };
  const reported: Line = {
    type: "agent.thread_message_received",
    from_session_thread_id: thread,
    from_agent_name: "x",
    content: [text("found")],
  };

  it("is one part on the caller's thread; its own messages are on its own thread", () => {
    const messages = fold(
      { ...asks("go"), as: "go" },
      start("s"),
      created,
      status("running"),
      told,
      { ...start("sub"), on: "a" },
      says("meanwhile"),
      { ...says("searching"), on: "a" },
      { ...use("t", "ask"), on: "a" },
      { ...answer("t", "allow"), on: "a" },
      { ...result("t", "x.ts"), on: "a" },
      reported,
      status("idle"),
    );
    expect(messages.map(({ thread, turn, parts }) => [thread, turn, parts.map(({ type }) => type)])).toEqual([
      [null, "sevt_go", ["text"]],
      [null, "sevt_go", ["step", "subtask", "text"]],
      ["sthr_a", "sevt_go", ["step", "text", "tool"]],
    ]);
    expect(messages[1]!.parts[1]).toEqual({
      type: "subtask",
      id: "sthr_a",
      at: timeAt(3),
      thread: "sthr_a",
      agent: "x",
      status: "idle",
      stop_reason: "end_turn",
      exchange: [
        { type: "sent", content: [text("find it")] },
        { type: "received", content: [text("found")] },
      ],
      ended_at: timeAt(13),
    });
  });

  it("runs again when it is resumed", () => {
    expect(only(created, status("idle"), status("running"))).toMatchObject({ status: "running", ended_at: null });
  });

  it("keeps messages to its own subagents apart from messages to its caller", () => {
    const below = threadId("b");
    const messages = fold(
      created,
      told,
      { ...created, session_thread_id: below, agent_name: "y", on: "a" },
      { ...told, to_session_thread_id: below, to_agent_name: "y", on: "a" },
      { ...reported, from_session_thread_id: thread, from_agent_name: "x", content: [text("dig")], on: "b" },
      { ...says("deep"), on: "b" },
      { ...told, to_session_thread_id: thread, to_agent_name: "x", content: [text("deep")], on: "b" },
      { ...reported, from_session_thread_id: below, from_agent_name: "y", on: "a" },
    );
    expect(messages).toMatchObject([
      { thread: null, parts: [{ type: "subtask", thread: "sthr_a", exchange: [{ type: "sent" }] }] },
      {
        thread: "sthr_a",
        parts: [{ type: "subtask", thread: "sthr_b", exchange: [{ type: "sent" }, { type: "received" }] }],
      },
      { thread: "sthr_b", role: "user", parts: [{ text: "dig" }] },
      { thread: "sthr_b", role: "agent", parts: [{ text: "deep" }] },
    ]);
    expect(messages.flatMap(({ parts }) => parts)).toHaveLength(4);
  });

  it("shows the primary agent's message as a user message", () => {
    const line: Line = { ...reported, from_session_thread_id: threadId("main"), from_agent_name: null, on: "a" };
    expect(fold(line)).toMatchObject([{ role: "user", thread: "sthr_a", parts: [{ text: "found" }] }]);
  });

  it("ignores the primary thread's own status", () => {
    expect(fold(status("running"), status("idle"))).toEqual([]);
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
  ])("marks a message that was dropped %s, which is no turn", (_, before: Line[], inbox: SessionEvent[]) => {
    const projection = new Projection();
    for (const event of inbox) projection.applyWaiting(event);
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

  it("merges an answer and its result", () => {
    expect(only(answer("lost", "allow"), result("lost", "out"))).toMatchObject({
      permission: { type: "allowed" },
      state: { type: "completed", output: [text("out")] },
    });
  });
});
