import { RequestError } from "@tandem/protocol";
import { jsonRoute, streamRoute, type Route } from "../../route.ts";
import { writeFeed } from "../../sse/feed-stream.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_DAYS = 30;

/** Views across all sessions. */
export const overviewRoutes: Route[] = [
  streamRoute("feed.stream", {
    scope: "read",
    at: "here",
    summary: "Stream all sessions and their pending approvals: a snapshot, then each change",
    handle: async ({ engine }, { open }) => {
      const stream = open();
      await writeFeed(engine.sessions.feed(stream.closed), stream);
    },
  }),
  jsonRoute("usage.list", {
    scope: "read",
    at: "here",
    summary: "Show the cost of sessions, by day (UTC) and agent",
    handle: async ({ engine, query }) => {
      const rows = await engine.sessions.usage(spanOf(query));
      return { data: rows.map(({ agentId, ...row }) => ({ ...row, agent_id: agentId })) };
    },
  }),
  jsonRoute("usage.models", {
    scope: "read",
    at: "here",
    summary: "Show the cost of sessions, by day (UTC) and model",
    handle: async ({ engine, query }) => ({ data: await engine.sessions.modelUsage(spanOf(query)) }),
  }),
];

function spanOf(query: { from?: string | undefined; to?: string | undefined }): { from: string; to: string } {
  const to = query.to === undefined ? new Date() : new Date(query.to);
  const from = query.from === undefined ? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(query.from);
  if (from > to) throw new RequestError("invalid_request", "from: expected a time before `to`.");
  return { from: from.toISOString(), to: to.toISOString() };
}
