import type { EventOf, SessionEvent } from "@tandem/protocol";

type Usage = Pick<EventOf<"span.model_request_end">, "model_usage" | "tandem">;
/** The end of a model request of the agent, of a grader or of a program. Its usage counts for the session. */
export type RequestEnd = Extract<SessionEvent, Usage>;

/** The compiler reports an event with usage that is missing here. */
const TYPES = {
  "span.model_request_end": true,
  "tandem.grader_request": true,
  "tandem.side_request": true,
} satisfies Record<RequestEnd["type"], true>;

export const REQUEST_ENDS: readonly string[] = Object.keys(TYPES);

export const isRequestEnd = (event: SessionEvent): event is RequestEnd => event.type in TYPES;
