import { clientEvent, REFUSED_CLIENT_EVENTS, RequestError, type ClientEvent } from "@tandem/protocol";
import { z } from "zod";
import { listEvents } from "../list-events.ts";
import { openSessionStream, streamQuery } from "../open-session-stream.ts";
import { findEarlierTry, repeatWindowMs, SendsUnderWay } from "../repeated-send.ts";
import { jsonRoute, streamRoute, type Route } from "../route.ts";
import { createdBetween, listOf, order, pageOf, pageQuery, toSpan } from "../schemas/page.ts";
import { eventType, sessionEvent, streamFrame } from "../schemas/session-event-schema.ts";

/** Taken in only to be refused with the reason, rather than as a shape that nobody knows. */
const refusedEvent = z
  .looseObject({ type: z.enum(Object.keys(REFUSED_CLIENT_EVENTS)) })
  .meta({ id: "RefusedEvent", description: "Events of Anthropic's API that Tandem refuses." });

const sendParams = z
  .strictObject({
    events: z.array(z.discriminatedUnion("type", [clientEvent, refusedEvent])).min(1, "expected at least one event"),
  })
  .meta({ id: "SendEvents" });

/** Of all sessions of this process. */
export const underWay = new SendsUnderWay();

const begunAt = ({ begun }: Readonly<Record<string, unknown>>): number =>
  typeof begun === "number" ? begun : Infinity;

export const sessionEventRoutes: Route[] = [
  jsonRoute({
    name: "sessions.events.list",
    method: "GET",
    path: "/v1/sessions/:session_id/events",
    scope: "read",
    at: "here",
    summary: "List the events of a session, oldest first; what waits for its turn comes last",
    query: z.strictObject({ ...pageQuery, ...order, ...createdBetween, types: z.array(eventType).optional() }),
    response: pageOf(sessionEvent),
    handle: ({ engine, params, query }) =>
      listEvents(engine.sessions, {
        session: params.session_id,
        thread: null,
        order: query.order ?? "asc",
        limit: query.limit,
        page: query.page,
        types: query.types,
        since: toSpan(query),
      }),
  }),
  jsonRoute({
    name: "sessions.events.send",
    method: "POST",
    path: "/v1/sessions/:session_id/events",
    scope: "run",
    at: "here",
    summary: "Send events into a session; they are durable when this answers",
    body: sendParams,
    response: listOf(sessionEvent),
    handle: async ({ engine, params, body, header, token, askOthers }) => {
      const events = body.events.map(accepted);
      const tryNumber = Number(header("x-stainless-retry-count") ?? 0);
      if (tryNumber > 0) {
        const arrived = Date.now();
        // The first try may be under way at another server.
        const others = askOthers(`/v1/fleet/sends/${params.session_id}`);
        const begun = Math.min(await underWay.settled(params.session_id), ...(await others).map(begunAt));
        const since = Math.min(begun, arrived - repeatWindowMs(tryNumber));
        const earlier = await findEarlierTry(engine.sessions, params.session_id, events, since);
        if (earlier) return { data: earlier };
      }
      const traced = events.map((event) => ofTrace(event, header("traceparent")));
      const send = () => engine.sessions.send(params.session_id, traced, token.name);
      return { data: await underWay.run(params.session_id, send) };
    },
  }),
  jsonRoute({
    name: "sessions.events.take_back",
    method: "DELETE",
    path: "/v1/sessions/:session_id/events/:event_id",
    scope: "run",
    at: "writer",
    extension: true,
    summary: "Take back a message that waits for its turn; a conflict if the agent has it already",
    response: z.object({ type: z.literal("event_taken_back"), id: z.string() }),
    handle: async ({ engine, params, token }) => {
      await engine.sessions.takeBack(params.session_id, params.event_id, token.name);
      return { type: "event_taken_back" as const, id: params.event_id };
    },
  }),
  streamRoute({
    name: "sessions.events.stream",
    method: "GET",
    path: "/v1/sessions/:session_id/events/stream",
    scope: "read",
    at: "here",
    summary: "Stream the events of a session from now on, or after `Last-Event-ID`",
    query: streamQuery,
    frame: streamFrame,
    handle: async ({ engine, params, query, header }, streams) => {
      const { id } = await engine.sessions.get(params.session_id);
      await openSessionStream(engine.sessions, { session: id, thread: null, query, header }, streams);
    },
  }),
];

/** A turn is of the trace of the request that began it, in whatever process it runs. */
function ofTrace(event: ClientEvent, traceparent: string | undefined): ClientEvent {
  if (event.type !== "user.message" || !traceparent || !TRACEPARENT.test(traceparent)) return event;
  return { ...event, tandem: { ...event.tandem, traceparent } };
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

function accepted(event: ClientEvent | z.infer<typeof refusedEvent>, index: number): ClientEvent {
  const reason = REFUSED_CLIENT_EVENTS[event.type];
  if (reason === undefined) return event as ClientEvent;
  throw new RequestError("invalid_request", `events[${index}].type: ${event.type} is refused: ${reason}.`);
}
