import type { Delta, LiveDelta, LoggedEvent, SessionEvent, SessionId } from "@tandem/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { DeltaHub } from "./delta-hub.ts";
import type { RemotePreviewSink } from "./preview-source.ts";

const session = "sesn_1" as SessionId;
const live = (delta: Delta, thread: string | null = null): LiveDelta => ({ thread, delta }) as LiveDelta;
const start = (id: string, thread: string | null = null): LiveDelta =>
  live({ type: "event_start", event: { type: "agent.message", id: id as never } }, thread);
const piece = (id: string, text: string, index?: number): LiveDelta =>
  live({
    type: "event_delta",
    event_id: id as never,
    delta: { type: "content_delta", ...(index !== undefined && { index }), content: { type: "text", text } },
  });
const logged = (seq: number, event: object): LoggedEvent => ({ seq, thread: null, event: event as SessionEvent });
const message = (seq: number, id: string): LoggedEvent => logged(seq, { type: "agent.message", id });
const requestEnd = (seq: number): LoggedEvent => logged(seq, { type: "span.model_request_end", id: `e${seq}` });
const idle = (seq: number): LoggedEvent =>
  logged(seq, { type: "session.status_idle", id: `e${seq}`, stop_reason: { type: "end_turn" } });

let hub: DeltaHub;
beforeEach(() => {
  hub = new DeltaHub();
});

function listen(after = 0): { heard: LiveDelta[]; stop: () => void } {
  const heard: LiveDelta[] = [];
  return { heard, stop: hub.listen(session, { after, hear: (deltas) => heard.push(...deltas) }) };
}

describe("previews of a session that this process writes", () => {
  test("start with the text so far for a late listener, and continue for all", () => {
    const early = listen();
    hub.publish(session, [start("a"), piece("a", "Hel")]);
    hub.publish(session, [piece("a", "lo ")]);
    expect(hub.snapshot(session, 7)?.deltas).toEqual([start("a"), piece("a", "Hello ")]);
    const late = listen(7);
    expect(late.heard).toEqual([start("a"), piece("a", "Hello ")]);
    hub.publish(session, [piece("a", "there")]);
    expect(late.heard.at(-1)).toEqual(piece("a", "there"));
    expect(early.heard).toEqual([start("a"), piece("a", "Hel"), piece("a", "lo "), piece("a", "there")]);
  });

  test("are heard once by a listener that a delta causes to join", () => {
    let late: LiveDelta[] | undefined;
    hub.listen(session, { after: 0, hear: () => (late ??= listen().heard) });
    hub.publish(session, [start("a"), piece("a", "Hel")]);
    expect(late).toEqual([start("a"), piece("a", "Hel")]);
  });

  test("are joined per content block, in the order in which they started", () => {
    const thought = (text: string) => live({ type: "tandem.thinking_delta", event_id: "t" as never, text });
    const input = (json: string) => live({ type: "tandem.tool_input_delta", event_id: "u" as never, json });
    const tool = live({ type: "tandem.tool_input_start", event_id: "u" as never, name: "Bash" });
    const thinking = live({ type: "event_start", event: { type: "agent.thinking", id: "t" as never } });
    hub.publish(session, [thinking, thought("Let me "), start("m"), piece("m", "Hel"), thought("think.")]);
    hub.publish(session, [piece("m", "lo", 0), piece("m", "another", 1), tool, input('{"comm'), input('and"')]);
    hub.publish(session, [live({ type: "tandem.tool_progress", event_id: "x" as never, elapsed_seconds: 3 })]);
    const said = [start("m"), piece("m", "Hello"), piece("m", "another", 1)];
    expect(listen().heard).toEqual([thinking, thought("Let me think."), ...said, tool, input('{"command"')]);
  });

  test("end with their event, or with one that abandons them", () => {
    hub.publish(session, [start("a"), piece("a", "one"), start("b"), start("below", "sthr_1")]);
    hub.settle(session, [message(1, "a")]);
    const { heard } = listen(1);
    hub.publish(session, [piece("a", "?"), start("c"), piece("c", "Bye")]);
    expect(heard).toEqual([start("b"), start("below", "sthr_1"), start("c"), piece("c", "Bye")]);
    hub.settle(session, [requestEnd(2)]);
    expect(listen().heard).toEqual([start("below", "sthr_1")]);
    hub.settle(session, [idle(3)]);
    expect(listen().heard).toEqual([]);
    hub.publish(session, [start("d")]);
    hub.forget(session);
    expect(listen().heard).toEqual([]);
  });

  test("start again if their event does, and are dropped without a start", () => {
    hub.publish(session, [start("m"), piece("m", "lost"), start("m"), piece("m", "kept"), piece("n", "ragment")]);
    expect(listen().heard).toEqual([start("m"), piece("m", "kept")]);
  });

  test("previews that are too long to keep are not shown in part; their space is free again after the event", () => {
    const early = listen();
    hub.publish(session, [start("a"), piece("a", "x".repeat(1_000_001))]);
    const late = listen();
    hub.publish(session, [piece("a", "y"), start("b"), piece("b", "z".repeat(900_000))]);
    expect(early.heard).toHaveLength(5);
    expect(late.heard).toEqual([start("b"), piece("b", "z".repeat(900_000))]);
    expect(hub.snapshot(session, 0)?.torn).toEqual(["a"]);
    hub.settle(session, [message(1, "a")]);
    hub.publish(session, [piece("b", "z".repeat(99_000))]);
    expect(hub.snapshot(session, 0)?.torn).toEqual([]);
    hub.publish(session, [piece("b", "z".repeat(1_000))]);
    expect(hub.snapshot(session, 0)?.torn).toEqual(["b"]);
  });

  test("are not heard by listeners of other sessions", () => {
    hub.publish("sesn_2" as SessionId, [start("a"), piece("a", "Hello")]);
    expect(listen().heard).toEqual([]);
    expect(hub.snapshot(session, 0)).toMatchObject({ deltas: [], torn: [] });
  });
});

describe("previews of a session that another process writes", () => {
  const watches: { sink: RemotePreviewSink; isStopped: boolean }[] = [];
  beforeEach(() => {
    watches.length = 0;
    hub = new DeltaHub({
      watch(_, sink) {
        const watch = { sink, isStopped: false };
        watches.push(watch);
        return () => (watch.isStopped = true);
      },
    });
  });

  test("wait until the events that a listener has read are settled", () => {
    const early = listen(1);
    const { sink } = watches[0]!;
    sink.show([start("a"), piece("a", "Hello"), start("b", "sthr_1")], 1);
    // It has read event a in the log, which this process has not received yet.
    const ahead = listen(2);
    expect(early.heard).toHaveLength(3);
    expect([ahead.heard, hub.snapshot(session, 2)]).toEqual([[], undefined]);
    sink.settle([message(2, "a")]);
    expect(ahead.heard).toEqual([start("b", "sthr_1")]);
    expect(hub.snapshot(session, 2)?.deltas).toEqual([start("b", "sthr_1")]);
    sink.show([start("c"), piece("c", "!")], 2);
    expect(ahead.heard.slice(1)).toEqual([start("c"), piece("c", "!")]);
    expect(early.heard.slice(3)).toEqual([start("c"), piece("c", "!")]);
  });

  test("are withdrawn when the connection breaks: no text twice, no text with a gap", () => {
    const early = listen(1);
    const { sink } = watches[0]!;
    sink.show([start("a"), piece("a", "Hel")], 1);
    sink.tear();
    const late = listen(1);
    expect(late.heard).toEqual([]);
    // A new connection starts with the text so far.
    sink.show([start("a"), piece("a", "Hello"), start("b", "sthr_1")], 1);
    sink.show([piece("a", "!")], 1);
    expect(early.heard.slice(2)).toEqual([start("b", "sthr_1")]);
    expect(late.heard).toEqual([start("b", "sthr_1")]);
    expect(hub.snapshot(session, 1)).toMatchObject({ deltas: [start("b", "sthr_1")], torn: ["a"] });
    sink.settle([message(2, "a")]);
    expect(hub.snapshot(session, 2)?.torn).toEqual([]);
  });

  test("yield to a writer in this process, and resume after it", () => {
    const { heard } = listen(1);
    const { sink } = watches[0]!;
    hub.publish(session, [start("a"), piece("a", "Hel")]);
    sink.settle([idle(1)]);
    sink.show([start("old")], 1);
    sink.tear();
    hub.publish(session, [piece("a", "lo")]);
    expect(heard).toEqual([start("a"), piece("a", "Hel"), piece("a", "lo")]);
    hub.forget(session);
    sink.show([start("b")], 4);
    expect(heard.slice(3)).toEqual([start("b")]);
  });

  test("are watched once for all listeners, and abandoned with the last of them", () => {
    const [first, second] = [listen(), listen()];
    const stopHere = hub.listen(session, { after: 0, from: "here", hear: () => undefined });
    expect(watches).toHaveLength(1);
    watches[0]!.sink.show([start("a")], 0);
    first.stop();
    expect(watches[0]!.isStopped).toBe(false);
    second.stop();
    stopHere();
    expect(watches[0]!.isStopped).toBe(true);
    const third = listen();
    expect(third.heard).toEqual([]);
    // An ended subscription that is ended again leaves the new one alone.
    second.stop();
    expect(watches.map(({ isStopped }) => isStopped)).toEqual([true, false]);
    hub.publish(session, [start("b")]);
    expect(third.heard).toEqual([start("b")]);
  });
});
