import type { ClientEvent } from "@tandem/protocol";
import { hasScope } from "../../access/authorize.ts";
import { refuseWorkerEvents } from "../../access/worker-access.ts";
import { listEvents, shownTypes } from "../../events/list-events.ts";
import { openSessionStream } from "../../events/open-session-stream.ts";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";
import { toSpan } from "../../request/page-query.ts";

export const sessionEventRoutes: Route[] = [
  jsonRoute("sessions.events.list", {
    scope: "read",
    at: "here",
    summary: "List the events of a session, oldest first; queued messages come last",
    handle: ({ engine, params, query, header }) =>
      listEvents(engine.sessions, {
        session: params.session_id,
        thread: null,
        order: query.order ?? "asc",
        limit: query.limit,
        page: query.page,
        types: query.types ?? shownTypes(query, header),
        since: toSpan(query),
      }),
  }),
  jsonRoute("sessions.events.send", {
    scope: "run",
    at: "here",
    summary: "Send events into a session; they are durable when this answers",
    isRepeatable: true,
    handle: async ({ engine, params, body, header, token, newId, isResumed }) => {
      refuseWorkerEvents(token, body.events);
      const events = body.events.map((event) => ofTrace(event, header("traceparent")));
      const ids = events.map((_, index) => newId("event", index));
      return { data: await engine.sessions.send(params.session_id, events, token.name, { ids, isResumed }) };
    },
  }),
  jsonRoute("sessions.events.take_back", {
    scope: "run",
    at: "writer",
    summary: "Withdraw a queued message; 409 if the agent already has it",
    handle: async ({ engine, params, token }) => {
      await engine.sessions.takeBack(params.session_id, params.event_id, token.name);
      return { type: "event_taken_back" as const, id: params.event_id };
    },
  }),
  streamRoute("sessions.events.stream", {
    scope: "read",
    at: "here",
    summary: "Stream the events of a session from now on, or after `Last-Event-ID`",
    handle: async ({ engine, params, query, header, token }, streams) => {
      const { id } = await engine.sessions.get(params.session_id);
      if (hasScope(token, "run")) void engine.sessions.opened(id);
      await openSessionStream(engine.sessions, { session: id, thread: null, query, header }, streams);
    },
  }),
];

/** A turn belongs to the trace of the request that started it, in whichever process it runs. */
function ofTrace(event: ClientEvent, traceparent: string | undefined): ClientEvent {
  if (event.type !== "user.message" || !traceparent || !TRACEPARENT.test(traceparent)) return event;
  return { ...event, tandem: { ...event.tandem, traceparent } };
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
