import { RequestError, type LoggedEvent, type SessionEvent, type ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import { findThread, inLog } from "../../events/find-thread.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** A window of the log, for links to an event far from its end. */
async function pageAround(
  sessions: Sessions,
  session: string,
  { around, limit, thread }: { around: string; limit: number; thread: ThreadId | null },
): Promise<{ data: LoggedEvent[]; waiting: SessionEvent[]; before: number | null }> {
  const position = await sessions.position(session, around);
  if (position === undefined) throw new RequestError("not_found", `The session ${session} has no event ${around}.`);
  const half = Math.floor(limit / 2);
  const before =
    half === 0
      ? []
      : (await sessions.events(session, { order: "desc", limit: half, before: position, thread })).events.toReversed();
  const from = await sessions.events(session, { after: position - 1, limit: limit - before.length, thread });
  const data = [...before, ...from.events];
  return { data, waiting: from.waiting, before: before.length < half ? null : (data[0]?.seq ?? null) };
}

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
      const { limit, before, around } = query;
      if (around !== undefined)
        return { ...(await pageAround(engine.sessions, session, { around, limit, thread })), head };
      const page = await engine.sessions.events(session, { order: "desc", limit, before, thread });
      const data = page.events.toReversed();
      return { data, waiting: page.waiting, before: data.length < limit ? null : (data[0]?.seq ?? null), head };
    },
  }),
];
