import type { SessionEvent } from "@tandem/protocol";

/** Whether a message that waits for a turn of its own is one whose turn somebody has interrupted. */
export const isCancelled = (event: SessionEvent, waiting: readonly SessionEvent[]): boolean =>
  event.type === "user.message" &&
  event.tandem?.delivery !== "steer" &&
  waiting.some((other) => other.type === "user.interrupt" && other.tandem?.turn_event_id === event.id);
