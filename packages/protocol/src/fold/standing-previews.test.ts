import { expect, it } from "vitest";
import type { Delta, LiveDelta } from "../events/session-event.ts";
import { StandingPreviews } from "./standing-previews.ts";
import { eventId, log, threadId } from "./testing/log.ts";

const begins = (id: string): Delta => ({ type: "event_start", event: { type: "agent.message", id: eventId(id) } });
const grows = (id: string, text: string, index?: number): Delta => ({
  type: "event_delta",
  event_id: eventId(id),
  delta: { type: "content_delta", ...(index !== undefined && { index }), content: { type: "text", text } },
});
const live = (delta: Delta, thread: LiveDelta["thread"] = null): LiveDelta => ({ thread, delta });

function standing(deltas: readonly Delta[], most?: number): StandingPreviews {
  const previews = new StandingPreviews(most);
  for (const delta of deltas) previews.apply(live(delta));
  return previews;
}

it("replays each preview as one delta, in order of their start", () => {
  const previews = standing([
    { type: "event_start", event: { type: "agent.thinking", id: eventId("t") } },
    { type: "tandem.thinking_delta", event_id: eventId("t"), text: "Let me " },
    begins("m"),
    grows("m", "Hel"),
    { type: "tandem.thinking_delta", event_id: eventId("t"), text: "think." },
    grows("m", "lo", 0),
    grows("m", "another block", 1),
    { type: "tandem.tool_input_start", event_id: eventId("u"), name: "Bash" },
    { type: "tandem.tool_input_delta", event_id: eventId("u"), json: '{"comm' },
    { type: "tandem.tool_input_delta", event_id: eventId("u"), json: 'and"' },
    { type: "tandem.tool_progress", event_id: eventId("other"), elapsed_seconds: 3 },
  ]);
  expect(previews.deltas.map(({ delta }) => delta)).toEqual([
    { type: "event_start", event: { type: "agent.thinking", id: eventId("t") } },
    { type: "tandem.thinking_delta", event_id: eventId("t"), text: "Let me think." },
    begins("m"),
    grows("m", "Hello"),
    grows("m", "another block", 1),
    { type: "tandem.tool_input_start", event_id: eventId("u"), name: "Bash" },
    { type: "tandem.tool_input_delta", event_id: eventId("u"), json: '{"command"' },
  ]);
});

it("drops previews that the log replaces or abandons", () => {
  const previews = standing([begins("a"), grows("a", "one"), begins("b"), grows("b", "two")]);
  previews.apply(live(begins("below"), threadId("sub")));
  const [fact, end, idle] = log(
    { type: "agent.message", as: "a", content: [{ type: "text", text: "one" }] },
    {
      type: "span.model_request_end",
      model_request_start_id: eventId("s"),
      is_error: true,
      model_usage: { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      tandem: {},
    },
    { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null },
  );
  previews.settle(fact!);
  expect([previews.has(eventId("a")), previews.has(eventId("b"))]).toEqual([false, true]);
  previews.settle(end!);
  expect(previews.deltas.map(({ delta }) => delta)).toEqual([begins("below")]);
  previews.settle(idle!);
  expect(previews.isEmpty).toBe(true);
});

it("restarts when an event restarts", () => {
  const previews = standing([begins("m"), grows("m", "lost"), begins("m"), grows("m", "kept")]);
  expect(previews.deltas.map(({ delta }) => delta)).toEqual([begins("m"), grows("m", "kept")]);
});

it("ignores deltas without a start", () => {
  expect(standing([grows("m", "ragment")]).isEmpty).toBe(true);
});

it("is bounded: a preview that is too long is not shown in part", () => {
  const previews = standing([begins("long"), grows("long", "x".repeat(60)), begins("m"), grows("m", "short")], 50);
  expect(previews.torn).toEqual([eventId("long")]);
  expect(previews.deltas.map(({ delta }) => delta)).toEqual([begins("m"), grows("m", "short")]);
  // Later deltas of it are not stored either and use no capacity.
  for (let i = 0; i < 100; i++) previews.apply(live(grows("long", "more")));
  expect(previews.has(eventId("m"))).toBe(true);
  expect(previews.torn).toEqual([eventId("long")]);
  const [fact] = log({ type: "agent.message", as: "long", content: [{ type: "text", text: "x" }] });
  previews.settle(fact!);
  expect(previews.torn).toEqual([]);
  // Its capacity is released, once.
  previews.apply(live(grows("m", "y".repeat(40))));
  expect(previews.torn).toEqual([]);
  previews.apply(live(grows("m", "y".repeat(10))));
  expect(previews.torn).toEqual([eventId("m")]);
});
