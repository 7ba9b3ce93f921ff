import { z } from "zod";
import { clientEvent } from "../../events/client-event.ts";
import { delta } from "../../events/delta.ts";
import { sessionEvent, sessionEvents, type SessionEventType } from "../../events/session-event.ts";
import { createdBetween, listOf, order, pageOf, pageQuery } from "../page.ts";
import { PREVIEWS } from "./previews.ts";

const EVENT_TYPES = Object.keys(sessionEvents) as [SessionEventType, ...SessionEventType[]];

/** Whether a type is Tandem's own. Only clients that ask for such events and previews get them. */
export const isOwnType = (type: string): boolean => type.startsWith("tandem.");

/** The types that Anthropic's clients know. */
export const ANTHROPIC_EVENT_TYPES: readonly SessionEventType[] = EVENT_TYPES.filter((type) => !isOwnType(type));

export const eventType = z.enum(EVENT_TYPES).meta({ id: "SessionEventType" });

const resync = z
  .object({ type: z.literal("tandem.resync"), last_event_id: z.string() })
  .meta({ id: "Resync", description: "The client was too slow and is disconnected; it resumes after this event." });

/** The data of a frame of a session's stream. */
export const streamFrame = z.union([sessionEvent, delta, resync]);
export type StreamFrame = z.infer<typeof streamFrame>;

/** The official clients do not know Tandem's events: their tool runner waits forever if one follows the end of a turn. */
export const ownEventsQuery = {
  tandem: z.enum(["true", "false"]).optional().meta({
    description:
      "`false` leaves out `tandem.` events unless `types` names them. The default is `true`, and `false` for the SDK's tool runner.",
  }),
};

export const streamQuery = z.strictObject({
  event_deltas: z
    .array(z.enum(PREVIEWS))
    .optional()
    .meta({ description: "Also send previews of events of these types while they are being produced." }),
  tandem: z.enum(["true", "false"]).default("false").meta({
    description: "Also send `tandem.` events, and previews of thinking and of tools' input.",
  }),
});

const sendParams = z
  .strictObject({
    events: z.array(clientEvent).min(1, "expected at least one event"),
  })
  .meta({ id: "SendEvents" });

export const sessionEventsApi = {
  "sessions.events.list": {
    query: z.strictObject({
      ...pageQuery,
      ...order,
      ...createdBetween,
      ...ownEventsQuery,
      types: z.array(eventType).optional(),
    }),
    response: pageOf(sessionEvent),
  },
  "sessions.events.send": { body: sendParams, response: listOf(sessionEvent) },
  "sessions.events.take_back": { response: z.object({ type: z.literal("event_taken_back"), id: z.string() }) },
  "sessions.events.stream": { query: streamQuery, frame: streamFrame },
};
