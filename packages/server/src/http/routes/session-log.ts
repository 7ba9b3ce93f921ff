import type { LoggedEvent } from "@tandem/protocol";
import { z } from "zod";
import { findThread, inLog } from "../find-thread.ts";
import { jsonRoute, type Route } from "../route.ts";
import { sessionEvent } from "../schemas/session-event-schema.ts";

const loggedEvent = z
  .object({ seq: z.int(), thread: z.string().nullable(), event: sessionEvent })
  .meta({ id: "LoggedEvent", description: "An event in its place in the log." }) as unknown as z.ZodType<LoggedEvent>;

export const sessionLogRoutes: Route[] = [
  jsonRoute({
    name: "sessions.log.list",
    method: "GET",
    path: "/v1/sessions/:session_id/log",
    scope: "read",
    at: "here",
    extension: true,
    summary:
      "List events with their places in the log, the last ones first read: for clients that fold them themselves",
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(2_000).default(500),
      before: z.coerce.number().int().min(1).optional().meta({ description: "Only those before this place." }),
      thread: z.string().optional().meta({ description: "A subagent's thread; the primary one where it is left out." }),
    }),
    response: z.object({
      data: z.array(loggedEvent).meta({ description: "Oldest first." }),
      waiting: z.array(sessionEvent).meta({ description: "What no turn has taken yet." }),
      before: z.int().nullable().meta({ description: "For those before these; null where there are none." }),
      head: z
        .int()
        .meta({ description: "The place of the log's last event: a stream opened from there misses nothing." }),
    }),
    handle: async ({ engine, params, query }) => {
      const { session_id: session } = params;
      const thread =
        query.thread === undefined ? null : inLog(await findThread(engine.sessions, session, query.thread));
      const head = await engine.sessions.head(session);
      const { limit, before } = query;
      const page = await engine.sessions.events(session, { order: "desc", limit, before, thread });
      const data = page.events.toReversed();
      return { data, waiting: page.waiting, before: data.length < limit ? null : (data[0]?.seq ?? null), head };
    },
  }),
];
