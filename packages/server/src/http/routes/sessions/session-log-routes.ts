import { findThread, inLog } from "../../events/find-thread.ts";
import { jsonRoute, type Route } from "../../route.ts";

export const sessionLogRoutes: Route[] = [
  jsonRoute("sessions.log.list", {
    scope: "read",
    at: "here",
    extension: true,
    summary:
      "List events with their places in the log, the last ones first read: for clients that fold them themselves",
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
