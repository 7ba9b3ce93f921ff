import type { LiveDelta, SessionEvent, SessionId } from "@tandem/protocol";
import { beforeEach, expect, test } from "vitest";
import { DeltaHub } from "./delta-hub.ts";
import type { Entry } from "./outbox.ts";

const session = "sesn_1" as SessionId;
const start = (id: string): LiveDelta => ({
  thread: null,
  delta: { type: "event_start", event: { type: "agent.message", id: id as never } },
});
const piece = (id: string, text: string): LiveDelta => ({
  thread: null,
  delta: {
    type: "event_delta",
    event_id: id as never,
    delta: { type: "content_delta", content: { type: "text", text } },
  },
});
const fact = (id: string, text: string): Entry => ({
  thread: null,
  event: {
    type: "agent.message",
    content: [{ type: "text", text }],
    id,
    processed_at: null,
  } as unknown as SessionEvent,
});

let hub: DeltaHub;
beforeEach(() => {
  hub = new DeltaHub();
});

function listen(): { heard: LiveDelta[]; stop: () => void } {
  const heard: LiveDelta[] = [];
  return { heard, stop: hub.listen(session, (deltas) => heard.push(...deltas)) };
}

test("who comes in the middle begins with what there is, and then hears the same as everybody", () => {
  const early = listen();
  hub.publish(session, [start("a"), piece("a", "Hel")]);
  hub.publish(session, [piece("a", "lo ")]);
  const late = listen();
  expect(late.heard).toEqual([start("a"), piece("a", "Hello ")]);
  hub.publish(session, [piece("a", "there")]);
  expect(late.heard.at(-1)).toEqual(piece("a", "there"));
  expect(early.heard).toEqual([start("a"), piece("a", "Hel"), piece("a", "lo "), piece("a", "there")]);
});

test("who listens because of what is said does not hear it twice", () => {
  let late: LiveDelta[] | undefined;
  hub.listen(session, () => (late ??= listen().heard));
  hub.publish(session, [start("a"), piece("a", "Hel")]);
  expect(late).toEqual([start("a"), piece("a", "Hel")]);
});

test("nothing is said of what the log has, or of what will not come, to who comes after that", () => {
  hub.publish(session, [start("a"), piece("a", "Hello")]);
  hub.settle(session, [fact("a", "Hello")]);
  const { heard } = listen();
  hub.publish(session, [piece("a", "?"), start("b"), piece("b", "Bye")]);
  expect(heard).toEqual([start("b"), piece("b", "Bye")]);
  hub.forget(session);
  expect(listen().heard).toEqual([]);
});

test("an answer that is too long to keep is not shown in part", () => {
  const early = listen();
  hub.publish(session, [start("a"), piece("a", "x".repeat(2_000_000))]);
  const late = listen();
  hub.publish(session, [piece("a", "y"), start("b"), piece("b", "z")]);
  expect(early.heard).toHaveLength(5);
  expect(late.heard).toEqual([start("b"), piece("b", "z")]);
});

test("sessions hear nothing of each other", () => {
  hub.publish("sesn_2" as SessionId, [start("a"), piece("a", "Hello")]);
  expect(listen().heard).toEqual([]);
});
