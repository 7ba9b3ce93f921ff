import { findThread, inLog } from "../../events/find-thread.ts";
import { listMessages } from "../../events/list-messages.ts";
import { jsonRoute, type Route } from "../../route.ts";

export const sessionMessageRoutes: Route[] = [
  jsonRoute("sessions.messages.list", {
    scope: "read",
    at: "here",
    summary: "List the last messages of a session with their parts, as a person sees them",
    handle: async ({ engine, params, query }) => {
      const { session_id: session } = params;
      const { limit, before } = query;
      const thread =
        query.thread === undefined ? null : inLog(await findThread(engine.sessions, session, query.thread));
      return listMessages(engine.sessions, { session, thread, limit, before });
    },
  }),
];
