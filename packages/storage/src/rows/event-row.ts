import { isOnPrimary, type LoggedEvent, type SessionEvent, type ThreadId } from "@tandem/protocol";
import type { EventRow, LoggedRow } from "../operations/event-rows.ts";
import { toIso, toIsoOrNull, toMsOrNull } from "./time.ts";

export function encodeEvent(thread: ThreadId | null, event: SessionEvent): EventRow {
  const { id, type, processed_at, ...body } = event;
  return {
    id,
    thread,
    type,
    at: toMsOrNull(processed_at),
    shown: isOnPrimary({ thread, event }) ? 1 : 0,
    body: JSON.stringify(body),
  };
}

export const toLoggedEvent = ({ seq, id, thread, type, at, body }: LoggedRow): LoggedEvent => ({
  seq,
  thread: thread as ThreadId | null,
  event: { id, type, processed_at: toIsoOrNull(at), ...(JSON.parse(body) as object) } as SessionEvent,
});

/** Predicts the result of `toLoggedEvent` for a stored event, without reading it back. */
export function asLogged(seq: number, thread: ThreadId | null, event: SessionEvent, at: number | null): LoggedEvent {
  const isCanonical = at === null || toIso(at) === event.processed_at;
  return { seq, thread, event: isCanonical ? event : { ...event, processed_at: toIso(at) } };
}
