import { RequestError, SESSION_STATUSES, thread } from "@tandem/protocol";
import { z } from "zod";
import { findThread, inLog } from "../find-thread.ts";
import { listEvents } from "../list-events.ts";
import { openSessionStream, streamQuery } from "../open-session-stream.ts";
import { pageThrough } from "../page-through.ts";
import { jsonRoute, streamRoute, type Route } from "../route.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";
import { sessionEvent, streamFrame } from "../schemas/session-event-schema.ts";

export const sessionThreadRoutes: Route[] = [
  jsonRoute({
    name: "sessions.threads.list",
    method: "GET",
    path: "/v1/sessions/:session_id/threads",
    scope: "read",
    at: "here",
    summary: "List the threads of a session; the primary one is among them",
    query: z.strictObject({ ...pageQuery, statuses: z.array(z.enum(SESSION_STATUSES)).optional() }),
    response: pageOf(thread),
    handle: async ({ engine, params, query }) => {
      const threads = await engine.sessions.threads(params.session_id);
      return pageThrough(
        threads.filter(({ status }) => !query.statuses || query.statuses.includes(status)),
        query,
      );
    },
  }),
  jsonRoute({
    name: "sessions.threads.retrieve",
    method: "GET",
    path: "/v1/sessions/:session_id/threads/:thread_id",
    scope: "read",
    at: "here",
    summary: "Retrieve a thread",
    response: thread,
    handle: ({ engine, params }) => findThread(engine.sessions, params.session_id, params.thread_id),
  }),
  jsonRoute({
    name: "sessions.threads.archive",
    method: "POST",
    path: "/v1/sessions/:session_id/threads/:thread_id/archive",
    scope: "run",
    at: "here",
    summary: "Refused: a thread ends with its session",
    response: thread,
    handle: async ({ engine, params }) => {
      await findThread(engine.sessions, params.session_id, params.thread_id);
      throw new RequestError("not_supported", "A thread cannot be archived by itself.", {
        fix: "Archive its session instead.",
      });
    },
  }),
  jsonRoute({
    name: "sessions.threads.events.list",
    method: "GET",
    path: "/v1/sessions/:session_id/threads/:thread_id/events",
    scope: "read",
    at: "here",
    summary: "List the events of a thread, oldest first",
    query: z.strictObject(pageQuery),
    response: pageOf(sessionEvent),
    handle: async ({ engine, params, query }) =>
      listEvents(engine.sessions, {
        session: params.session_id,
        thread: inLog(await findThread(engine.sessions, params.session_id, params.thread_id)),
        order: "asc",
        limit: query.limit,
        page: query.page,
      }),
  }),
  streamRoute({
    name: "sessions.threads.events.stream",
    method: "GET",
    path: "/v1/sessions/:session_id/threads/:thread_id/stream",
    scope: "read",
    at: "here",
    summary: "Stream the events of a thread from now on, or after `Last-Event-ID`",
    query: streamQuery,
    frame: streamFrame,
    handle: async ({ engine, params, query, header }, streams) => {
      const found = await findThread(engine.sessions, params.session_id, params.thread_id);
      const request = { session: found.session_id, thread: inLog(found), query, header };
      await openSessionStream(engine.sessions, request, streams);
    },
  }),
];
