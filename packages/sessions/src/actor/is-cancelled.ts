import type { SessionEvent } from "@tandem/protocol";
import { isTurnInput } from "../log/outcome-prompt.ts";

/** Whether a queued message was cancelled by an interrupt of its turn. */
export const isCancelled = (event: SessionEvent, waiting: readonly SessionEvent[]): boolean =>
  isTurnInput(event) &&
  !(event.type === "user.message" && event.tandem?.delivery === "steer") &&
  waiting.some((other) => other.type === "user.interrupt" && other.tandem?.turn_event_id === event.id);
