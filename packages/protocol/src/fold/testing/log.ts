import type { EventId, ThreadId } from "../../ids.ts";
import type { LoggedEvent, SessionEvent, SessionEventBody } from "../../events/session-event.ts";

export const eventId = (name: string): EventId => `sevt_${name}` as EventId;
export const threadId = (name: string): ThreadId => `sthr_${name}` as ThreadId;

/** Second `seq` of the day used in all tests. */
export const timeAt = (seq: number): string => new Date(Date.UTC(2026, 10, 15) + seq * 1_000).toISOString();

export type Line = SessionEventBody & { as?: string; on?: string };

/** A log of these events, one per second. Unnamed events are called `e1`, `e2`… by position. */
export function log(...lines: readonly Line[]): LoggedEvent[] {
  return lines.map(({ as, on, ...body }, index) => {
    const seq = index + 1;
    const event = { ...body, id: eventId(as ?? `e${seq}`), processed_at: timeAt(seq) } as SessionEvent;
    return { seq, thread: on === undefined ? null : threadId(on), event };
  });
}
