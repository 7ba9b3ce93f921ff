import type { BetaManagedAgentsStreamSessionEvents } from "@anthropic-ai/sdk/resources/beta/sessions/events";
import { inject } from "vitest";

const DEADLINE_MS = 120_000 * inject("slowness");

type StreamEvent = BetaManagedAgentsStreamSessionEvents;
export type EventOfType<T extends StreamEvent["type"]> = Extract<StreamEvent, { type: T }>;

/** Reads the official client's stream up to the first matching event, then leaves it as `break` does. */
export async function collectUntil(
  stream: AsyncIterable<StreamEvent> & { controller: AbortController },
  fits: (event: StreamEvent) => boolean,
): Promise<StreamEvent[]> {
  const seen: StreamEvent[] = [];
  const timer = setTimeout(() => stream.controller.abort(), DEADLINE_MS);
  try {
    for await (const event of stream) {
      seen.push(event);
      if (fits(event)) return seen;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`The stream ended; there were: ${seen.map(({ type }) => type).join(", ")}`);
}

export const endsTurn = (event: StreamEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "end_turn";
export const requiresAction = (event: StreamEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type === "requires_action";

export const ofType = <T extends StreamEvent["type"]>(events: readonly StreamEvent[], type: T): EventOfType<T>[] =>
  events.filter((event): event is EventOfType<T> => event.type === type);

/** Only event types of Anthropic's API. */
export const standardTypes = (events: readonly { type: string }[]): string[] =>
  events.map(({ type }) => type).filter((type) => !type.startsWith("tandem."));
