import type { LiveDelta, LoggedEvent } from "@tandem/protocol";
import { deltaFrame, eventFrame } from "./frame.ts";

/** An event or a preview on its way to clients. */
export type StreamItem =
  | {
      type: "event";
      logged: LoggedEvent;
      /** Whether it arose while the session was idle. */
      isIdle: boolean;
      frame?: string;
    }
  | { type: "delta"; live: LiveDelta; frame?: string };

/** Encoded once, when the first client wants it. */
export const frameOf = (item: StreamItem): string =>
  (item.frame ??= item.type === "event" ? eventFrame(item.logged) : deltaFrame(item.live.delta));

/** The id of the event that a preview is of; undefined for an event itself, and for what is said of one that has come. */
export function previewedId(item: StreamItem): string | undefined {
  if (item.type === "event") return undefined;
  const { delta } = item.live;
  if (delta.type === "tandem.tool_progress") return undefined;
  return delta.type === "event_start" ? delta.event.id : delta.event_id;
}

/** The types of the events that say whether a session is idle. */
export const STATUS_TYPES = [
  "session.status_running",
  "session.status_rescheduled",
  "session.status_idle",
  "session.status_terminated",
] as const;

/** Turns a session's events into items; it must be shown each of them, in order. */
export class ItemMaker {
  #isIdle: boolean;

  /** With what the last status event before the first that is made said; a session begins idle. */
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
