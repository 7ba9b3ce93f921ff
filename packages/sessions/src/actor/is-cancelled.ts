import type { SessionEvent } from "@tandem/protocol";

/** Whether a queued message was cancelled by an interrupt of its turn. */
export const isCancelled = (event: SessionEvent, waiting: readonly SessionEvent[]): boolean =>
  event.type === "user.message" &&
  event.tandem?.delivery !== "steer" &&
  waiting.some((other) => other.type === "user.interrupt" && other.tandem?.turn_event_id === event.id);
