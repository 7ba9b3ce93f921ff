import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";

const trust = z
  .object({
    folder: z.string(),
    state: z.enum(["trusted", "untrusted", "changed", "empty", "refused"]),
    since: z.string().nullable(),
    reason: z.string().nullable(),
    files: z.array(z.string()),
    identity: z.string().nullable(),
  })
  .meta({
    id: "Trust",
    description:
      "Whether settings, hooks, MCP servers and skills of a folder act in sessions, and which files those are.",
  });

export const trustRoutes: Route[] = [
  jsonRoute({
    name: "trust.retrieve",
    method: "GET",
    path: "/v1/trust",
    scope: "read",
    at: "worker",
    extension: true,
    operator: true,
    summary: "Read whether a folder that sessions may work in is trusted (`tandem trust --folder` grants it)",
    query: z.strictObject({ folder: z.string().min(1) }),
    response: trust,
    handle: async ({ engine, query }) => engine.trust.of(query.folder),
  }),
];
