import type { LoggedAnswers } from "@tandem/claude-code";
import type { LoggedEvent } from "@tandem/protocol";

/** The model's answers in these events. A text that was cut off counts as missing. */
export function loggedAnswers(events: readonly LoggedEvent[]): LoggedAnswers {
  const texts = new Map<string, number>();
  const counted = new Set<string>();
  for (const { thread, event } of events) {
    if (thread !== null) continue;
    if (event.type === "agent.message" && event.tandem && !event.tandem.interrupted) {
      const { message_id: id } = event.tandem;
      texts.set(id, (texts.get(id) ?? 0) + 1);
    }
    if (event.type === "span.model_request_end" && event.tandem?.message_id) counted.add(event.tandem.message_id);
  }
  return { texts, counted };
}
