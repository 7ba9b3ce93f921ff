import { findThread, inLog } from "../../events/find-thread.ts";
import { listEvents, shownTypes } from "../../events/list-events.ts";
import { openSessionStream } from "../../events/open-session-stream.ts";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";

export const sessionThreadRoutes: Route[] = [
  jsonRoute("sessions.threads.list", {
    scope: "read",
    at: "here",
    summary: "List the threads of a session; the primary one is among them",
    handle: async ({ engine, params, query }) => {
      const threads = await engine.sessions.threads(params.session_id);
      return pageThrough(
        threads.filter(({ status }) => !query.statuses || query.statuses.includes(status)),
        query,
      );
    },
  }),
  jsonRoute("sessions.threads.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a thread",
    handle: ({ engine, params }) => findThread(engine.sessions, params.session_id, params.thread_id),
  }),
  jsonRoute("sessions.threads.archive", {
    scope: "run",
    at: "writer",
    summary: "Archive the idle thread of a subagent, which ends it; 409 for the primary one",
    handle: ({ engine, params, token }) =>
      engine.sessions.archiveThread(params.session_id, params.thread_id, token.name),
  }),
  jsonRoute("sessions.threads.events.list", {
    scope: "read",
    at: "here",
    summary: "List the events of a thread, oldest first",
    handle: async ({ engine, params, query, header }) =>
      listEvents(engine.sessions, {
        session: params.session_id,
        thread: inLog(await findThread(engine.sessions, params.session_id, params.thread_id)),
        order: "asc",
        limit: query.limit,
        page: query.page,
        types: shownTypes(query, header),
      }),
  }),
  streamRoute("sessions.threads.events.stream", {
    scope: "read",
    at: "here",
    summary: "Stream the events of a thread from now on, or after `Last-Event-ID`",
    handle: async ({ engine, params, query, header }, streams) => {
      const found = await findThread(engine.sessions, params.session_id, params.thread_id);
      const request = { session: found.session_id, thread: inLog(found), query, header };
      await openSessionStream(engine.sessions, request, streams);
    },
  }),
];
