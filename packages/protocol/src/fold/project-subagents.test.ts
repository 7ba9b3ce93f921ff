import { describe, expect, it } from "vitest";
import type { UsageSnapshot } from "../events/usage-snapshot.ts";
import { text, asks, says, use, result, answer, start, fold, only } from "./testing/lines.ts";
import { threadId, timeAt, type Line } from "./testing/log.ts";

describe("subagents", () => {
  const thread = threadId("a");
  const noUsage: UsageSnapshot = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    list_cost: { amount: "0", currency: "USD" },
    active_seconds: 0,
  };
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

  it("has its list price at the end of the turn", () => {
    const note = { ...noUsage, usd: 0.25 };
    const usage: Line = {
      type: "session.usage",
      usage: noUsage,
      budget: null,
      tandem: { usd: 0.4, by_model: {}, by_thread: { sthr_primary: { ...note, usd: 0.15 }, [thread]: note } },
    };
    const parts = fold(asks("go"), start("s"), created, told, reported, usage).flatMap((message) => message.parts);
    expect(parts.find(({ type }) => type === "subtask")).toMatchObject({ id: thread, usd: 0.25 });
  });

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
