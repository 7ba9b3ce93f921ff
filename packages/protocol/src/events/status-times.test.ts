import { expect, test } from "vitest";
import type { SessionEvent, SessionEventBody } from "./session-event.ts";
import { StatusTimes } from "./status-times.ts";

const START = Date.parse("2026-11-17T10:00:00Z");
const seconds = (count: number): number => START + count * 1_000;

const idle = (type: "end_turn" | "requires_action"): SessionEventBody => ({
  type: "session.status_idle",
  stop_reason: type === "end_turn" ? { type } : { type, event_ids: [] },
  stop_details: null,
});
const running: SessionEventBody = { type: "session.status_running" };

function times(events: readonly (readonly [second: number, body: SessionEventBody])[]): StatusTimes {
  const counted = new StatusTimes();
  for (const [second, body] of events) {
    counted.note({
      ...body,
      id: `sevt_${second}`,
      processed_at: new Date(seconds(second)).toISOString(),
    } as SessionEvent);
  }
  return counted;
}

test("time in which a person is asked is not active time", () => {
  const counted = times([
    [0, running],
    [10, idle("requires_action")],
    [490, running],
    [522, idle("end_turn")],
  ]);
  expect(counted.settled).toEqual({ activeMs: 42_000, waitedMs: 480_000 });
  expect(counted.at(seconds(9_999)), "an idle session").toEqual({ activeMs: 42_000, waitedMs: 480_000 });
});

test("more calls may ask while the session waits, and a repeated status counts once", () => {
  const events = [
    [0, running],
    [2, running],
    [5, idle("requires_action")],
    [8, idle("requires_action")],
  ] as const;
  expect(times(events).at(seconds(20))).toEqual({ activeMs: 5_000, waitedMs: 15_000 });
});

test("waits for a quota or a process are neither", () => {
  const events = [
    [0, running],
    [3, { type: "session.status_rescheduled" }],
    [1_000, running],
  ] as const;
  expect(times(events).at(seconds(1_004))).toEqual({ activeMs: 7_000, waitedMs: 0 });
});

test("the time that a server was dead is not active time", () => {
  const counted = times([
    [0, running],
    [6, { type: "agent.message", content: [] }],
    [7_200, { type: "tandem.recovered", cause: "The server died.", closed: [] }],
    [7_203, idle("end_turn")],
  ]);
  expect(counted.settled).toEqual({ activeMs: 9_000, waitedMs: 0 });
});

test("a wait continues while the server is dead", () => {
  const counted = times([
    [0, running],
    [5, idle("requires_action")],
    [3_605, running],
    [3_606, idle("end_turn")],
  ]);
  expect(counted.settled).toEqual({ activeMs: 6_000, waitedMs: 3_600_000 });
});
