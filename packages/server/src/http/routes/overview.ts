import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, streamRoute, type Route } from "../route.ts";
import { listOf, time } from "../schemas/page.ts";
import { feedItem } from "../schemas/session-event-schema.ts";
import { writeFeed } from "../sse/feed-stream.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_DAYS = 30;

const usageOfDay = z
  .object({ day: z.string(), agent_id: z.string(), usd: z.number(), sessions: z.int() })
  .meta({ id: "UsageOfDay" });

const span = z.strictObject({
  from: time.optional().meta({ description: `Thirty days before \`to\` where it is left out.` }),
  to: time.optional().meta({ description: "Now where it is left out." }),
});

/** What goes over all sessions. */
export const overviewRoutes: Route[] = [
  streamRoute({
    name: "feed.stream",
    method: "GET",
    path: "/v1/feed",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Stream all sessions and what waits for a person: a snapshot, then each change",
    frame: feedItem,
    handle: async ({ engine }, { open }) => {
      const stream = open();
      await writeFeed(engine.sessions.feed(stream.closed), stream);
    },
  }),
  jsonRoute({
    name: "usage.list",
    method: "GET",
    path: "/v1/usage",
    scope: "read",
    at: "here",
    extension: true,
    summary: "What sessions cost, by day (UTC) and agent",
    query: span,
    response: listOf(usageOfDay),
    handle: async ({ engine, query }) => {
      const to = query.to === undefined ? new Date() : new Date(query.to);
      const from = query.from === undefined ? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(query.from);
      if (from > to) throw new RequestError("invalid_request", "from: expected a time before `to`.");
      const rows = await engine.sessions.usage({ from: from.toISOString(), to: to.toISOString() });
      return { data: rows.map(({ agentId, ...row }) => ({ ...row, agent_id: agentId })) };
    },
  }),
];
