import type { LiveDelta, LoggedEvent } from "@tandem/protocol";
import { deltaFrame, eventFrame } from "./frame.ts";

/** An event or a preview to be sent to clients. */
export type StreamItem =
  | {
      type: "event";
      logged: LoggedEvent;
      /** Whether it occurred while the session was idle. */
      isIdle: boolean;
      frame?: string;
    }
  | { type: "delta"; live: LiveDelta; frame?: string };

/** Encoded once, when the first client needs it. */
export const frameOf = (item: StreamItem): string =>
  (item.frame ??= item.type === "event" ? eventFrame(item.logged) : deltaFrame(item.live.delta));

/** The id of the event that a preview belongs to; undefined for events and for previews of events that have arrived. */
export function previewedId(item: StreamItem): string | undefined {
  if (item.type === "event") return undefined;
  const { delta } = item.live;
  if (delta.type === "tandem.tool_progress") return undefined;
  return delta.type === "event_start" ? delta.event.id : delta.event_id;
}

/** The types of events that change whether a session is idle. */
export const STATUS_TYPES = [
  "session.status_running",
  "session.status_rescheduled",
  "session.status_idle",
  "session.status_terminated",
] as const;

/** Turns a session's events into items. It must see every event, in order. */
export class ItemMaker {
  #isIdle: boolean;

  /** `lastStatus`: the type of the last status event before the first item; a session starts idle. */
  constructor(lastStatus: string | undefined) {
    this.#isIdle = isIdleAfter(lastStatus ?? "session.status_idle") ?? true;
  }

  make(logged: LoggedEvent): StreamItem {
    const before = this.#isIdle;
    this.#isIdle = isIdleAfter(logged.event.type) ?? before;
    return { type: "event", logged, isIdle: before };
  }
}

function isIdleAfter(type: string): boolean | undefined {
  switch (type) {
    case "session.status_running":
    case "session.status_rescheduled":
      return false;
    case "session.status_idle":
    case "session.status_terminated":
      return true;
    default:
      return undefined;
  }
}
