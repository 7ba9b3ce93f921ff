import { describe, expect, it } from "vitest";
import { message, type Message } from "./message.ts";
import { project, Projection } from "./projection.ts";
import type { Delta, LiveDelta } from "../events/delta.ts";
import type { LoggedEvent, SessionEvent } from "../events/session-event.ts";
import { eventId, log, threadId, type Line } from "./testing/log.ts";

/** Deterministic pseudo-random numbers (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below || 0;
  };
}

const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const text = (words: string) => ({ type: "text", text: words }) as const;

/** A log of some hundred events with turns, subagents, tools, retries and recoveries in random order. */
function anyLog(seed: number): LoggedEvent[] {
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random(from.length))]!;
  const lines: Line[] = [];
  const uses: string[] = [];
  const steps: string[] = [];
  const thoughts: string[] = [];
  for (let i = 0; i < 300; i += 1) {
    const on = pick([undefined, undefined, "a", "b"]);
    const as = `x${i}`;
    const some = eventId(pick([...uses, "lost-call"]));
    const thought = eventId(pick([...thoughts, "lost-thought"]));
    const thread = threadId(pick(["a", "b", "primary"]));
    const line = pick<() => Line>([
      () => ({ type: "user.message", content: [text(as), text("more")] }),
      () => ({ type: "user.interrupt" }),
      () => ({ type: "user.tool_confirmation", tool_use_id: some, result: pick(["allow", "deny"]) }),
      () => ({ type: "user.custom_tool_result", custom_tool_use_id: some, content: [text("own")] }),
      () => ({ type: "agent.message", content: [text(as)] }),
      () => ({ type: "agent.thinking" }),
      () => ({ type: "tandem.thinking", thinking_id: thought, text: "hm", signature: "s" }),
      () => ({ type: "tandem.thinking_redacted", thinking_id: thought, data: "z" }),
      () => ({
        type: "agent.tool_use",
        name: "Bash",
        input: {},
        evaluated_permission: pick(["allow", "ask", "deny"]),
        tandem: { tool_use_id: `toolu_${i}` },
      }),
      () => ({ type: "agent.custom_tool_use", name: "own", input: {}, tandem: { tool_use_id: `toolu_${i}` } }),
      () => ({ type: "agent.tool_result", tool_use_id: some, content: [text("out")], is_error: pick([true, false]) }),
      () => ({ type: "tandem.permission_denied", name: "Bash", tool_use_id: `toolu_${i - 2}`, reason: "rule" }),
      () => ({ type: "span.model_request_start" }),
      () => ({
        type: "span.model_request_end",
        model_request_start_id: eventId(pick([...steps, "lost-step"])),
        is_error: pick([true, false]),
        model_usage: usage,
        tandem: {},
      }),
      () => ({ type: "session.thread_created", session_thread_id: thread, agent_name: "n", workflow_run_id: null }),
      () => ({ type: "session.thread_status_running", session_thread_id: thread, agent_name: "n" }),
      () => ({
        type: "session.thread_status_idle",
        session_thread_id: thread,
        agent_name: "n",
        stop_reason: { type: "end_turn" },
        stop_details: null,
      }),
      () => ({ type: "agent.thread_message_sent", to_session_thread_id: thread, content: [text("do")] }),
      () => ({
        type: "agent.thread_message_received",
        from_session_thread_id: thread,
        from_agent_name: "n",
        content: [text("did")],
      }),
      () => ({ type: "agent.thread_context_compacted" }),
      () => ({ type: "tandem.compaction", trigger: "auto", tokens_before: 2 }),
      () => ({ type: "tandem.retry", attempt: 1, max_attempts: 2, delay_ms: 5, status: null, reason: "reset" }),
      () => ({ type: "tandem.todo", todos: [] }),
      () => ({ type: "tandem.recovered", cause: "died", closed: [some] }),
      () => ({ type: "tandem.dropped", event_id: eventId(`x${i - 3}`), reason: "archived" }),
      () => ({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }),
      () => ({
        type: "session.status_idle",
        stop_reason: { type: "requires_action", event_ids: [] },
        stop_details: null,
      }),
      () => ({ type: "session.status_running" }),
    ])();
    if (line.type === "agent.tool_use" || line.type === "agent.custom_tool_use") uses.push(as);
    if (line.type === "agent.thinking") thoughts.push(as);
    if (line.type === "span.model_request_start") steps.push(as);
    lines.push({ ...line, as, ...(on !== undefined && { on }) });
  }
  return log(...lines);
}

/** Deltas that a server may send before an event: partial, complete, or of an abandoned event. */
function previewsOf({ thread, event }: LoggedEvent): LiveDelta[] {
  const { id } = event;
  const words = (of: string): Delta[] =>
    Array.from(of, (letter) => ({
      type: "event_delta",
      event_id: id,
      delta: { type: "content_delta", content: text(letter) },
    }));
  const deltas: Delta[] = [{ type: "event_start", event: { type: "agent.message", id: eventId(`given-up-${id}`) } }];
  if (event.type === "agent.message") {
    deltas.push({ type: "event_start", event: { type: "agent.message", id } }, ...words(event.content[0]!.text));
  }
  if (event.type === "agent.thinking") {
    deltas.push({ type: "event_start", event: { type: "agent.thinking", id } });
    deltas.push({ type: "tandem.thinking_delta", event_id: id, text: "h" });
  }
  if (event.type === "agent.tool_use") {
    deltas.push({ type: "tandem.tool_input_start", event_id: id, name: event.name });
    deltas.push({ type: "tandem.tool_input_delta", event_id: id, json: "{" });
  }
  if (event.type === "agent.tool_result") {
    deltas.push({ type: "tandem.tool_progress", event_id: event.tool_use_id, elapsed_seconds: 3 });
  }
  return deltas.map((delta) => ({ thread, delta }));
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}

/** The last event: no preview can remain after it. */
const terminated = (after: LoggedEvent[]): LoggedEvent => ({
  seq: after.length + 1,
  thread: null,
  event: { type: "session.status_terminated", id: eventId("end"), processed_at: "2026-11-16T00:00:00.000Z" },
});

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("any log (%d)", (seed) => {
  const entries = anyLog(seed);

  it("folding one by one with reads in between equals folding at once; returned values never change", () => {
    const projection = new Projection();
    for (const [index, entry] of entries.entries()) {
      freeze(entry);
      projection.apply(entry);
      const { messages } = projection;
      freeze(messages);
      if (index % 20 === 0) expect(messages).toEqual(project(entries.slice(0, index + 1)));
    }
    expect(projection.messages).toEqual(project(entries));
    expect(projection.messages.flatMap(({ parts }) => parts).length).toBeGreaterThan(50);
  });

  it("folding in overlapping pages gives the same result", () => {
    const projection = new Projection();
    for (let from = 0; from < entries.length; from += 37) {
      for (const entry of entries.slice(Math.max(0, from - 5), from + 37)) projection.apply(entry);
    }
    expect(projection.messages).toEqual(project(entries));
  });

  it("keeps the identity of every message that an event does not touch", () => {
    const projection = new Projection();
    let before: readonly Message[] = [];
    for (const entry of entries) {
      projection.apply(entry);
      const after = projection.messages;
      const replaced = before.filter((old, place) => after[place] !== old);
      // A recovery closes one call and adds a notice elsewhere; an answer or result changes one message.
      expect(replaced.length).toBeLessThanOrEqual(2);
      before = after;
    }
  });

  it("produces valid messages in order, with unique ids", () => {
    const messages = project(entries);
    for (const each of messages) expect(message.parse(each)).toEqual(each);
    const seqs = messages.map(({ seq }) => seq ?? 0);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    const ids = messages.flatMap(({ parts }) => parts.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  it("can be folded from any position and then agrees with the whole fold about later calls", () => {
    const whole = new Map(project(entries).flatMap(({ parts }) => parts.map((part) => [part.id, part])));
    for (let from = 0; from < entries.length; from += 23) {
      const tail = entries.slice(from);
      const called = new Set(
        tail.flatMap(({ event }) => (event.type === "agent.tool_use" ? [event.id as string] : [])),
      );
      const messages = project(tail);
      for (const each of messages) expect(message.parse(each)).toEqual(each);
      for (const part of messages.flatMap(({ parts }) => parts)) {
        if (called.has(part.id)) expect(part).toEqual(whole.get(part.id));
      }
    }
  });

  it("ends the same with and without previews", () => {
    const projection = new Projection();
    let seen = 0;
    for (const entry of entries) {
      for (const live of previewsOf(entry)) projection.applyDelta(live);
      const { messages } = projection;
      seen += messages.flatMap(({ parts }) => parts.filter((part) => "preview" in part && part.preview)).length;
      freeze(messages);
      projection.apply(entry);
    }
    projection.apply(terminated(entries));
    expect(seen).toBeGreaterThan(100);
    expect(projection.messages).toEqual(project([...entries, terminated(entries)]));
  });

  it("ignores events of unknown types", () => {
    const strange = { type: "tandem.from_the_future", more: { a: 1 } } as unknown as SessionEvent;
    const mixed = entries.flatMap((entry): LoggedEvent[] => [
      { ...entry, seq: entry.seq * 2 },
      { seq: entry.seq * 2 + 1, thread: entry.thread, event: { ...strange, id: eventId(`f${entry.seq}`) } },
    ]);
    const whole = project(entries).map((each) => ({ ...each, seq: each.seq! * 2 }));
    expect(project(mixed)).toEqual(whole);
  });
});
