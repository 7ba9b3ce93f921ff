import { message } from "@tandem/protocol";
import { z } from "zod";
import { findThread, inLog } from "../find-thread.ts";
import { listMessages } from "../list-messages.ts";
import { jsonRoute, type Route } from "../route.ts";

export const sessionMessageRoutes: Route[] = [
  jsonRoute({
    name: "sessions.messages.list",
    method: "GET",
    path: "/v1/sessions/:session_id/messages",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List what a person sees of a session: its last messages with their parts",
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(500).default(50),
      before: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .meta({ description: "For what came earlier: the `before` of the answer." }),
      thread: z.string().optional().meta({ description: "A subagent's thread; the primary one where it is left out." }),
    }),
    response: z.object({
      data: z.array(message),
      before: z.int().nullable().meta({ description: "For the messages before these; null where there are none." }),
    }),
    handle: async ({ engine, params, query }) => {
      const { session_id: session } = params;
      const { limit, before } = query;
      const thread =
        query.thread === undefined ? null : inLog(await findThread(engine.sessions, session, query.thread));
      return listMessages(engine.sessions, { session, thread, limit, before });
    },
  }),
];
