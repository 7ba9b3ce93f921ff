import type { McpServer } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { TokenRow } from "@tandem/storage";
import { admitRepositories } from "../../access/admit-repositories.ts";
import { hasScope } from "../../access/authorize.ts";
import { jsonRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery, toSpan } from "../../request/page-query.ts";

export const sessionRoutes: Route[] = [
  jsonRoute("sessions.create", {
    scope: "run",
    at: "worker",
    summary: "Create a session of an agent in an environment",
    longRunning: true,
    handle: async ({ engine, body, token, newId, useId, isResumed }) => {
      if (typeof body.agent !== "string" && "mcp_servers" in body.agent) await noteUrls(engine, token, body.agent);
      await admitRepositories(engine, token, body.resources ?? []);
      const { sessions } = engine;
      const id = newId("session");
      if (isResumed) return sessions.createAgain(body, token.name, id);
      return sessions.create(body, token.name, id, (other) => useId("session", other));
    },
    find: ({ engine, newId }) => engine.sessions.get(newId("session")),
  }),
  jsonRoute("sessions.list", {
    scope: "read",
    at: "here",
    summary: "List sessions, newest first",
    handle: async ({ engine, query }) => {
      const page = await engine.sessions.list({
        ...toPageQuery(query),
        created: toSpan(query),
        agentId: query.agent_id,
        agentVersion: query.agent_version,
        statuses: query.statuses,
        memoryStoreId: query.memory_store_id,
        ...(query.deployment_id !== undefined && { deploymentId: query.deployment_id }),
      });
      return { ...nextPage(page), prev_page: page.previous };
    },
  }),
  jsonRoute("sessions.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a session",
    handle: ({ engine, params }) => engine.sessions.get(params.session_id),
  }),
  jsonRoute("sessions.update", {
    scope: "run",
    at: "writer",
    summary: "Change a session's title, metadata, budget or tools",
    handle: async ({ engine, params, body, token }) => {
      if (body.agent) await noteUrls(engine, token, body.agent);
      return engine.sessions.update(params.session_id, body, token.name);
    },
  }),
  jsonRoute("sessions.archive", {
    scope: "run",
    at: "writer",
    summary: "Archive a session: it ends and stays readable",
    handle: ({ engine, params, token }) => engine.sessions.archive(params.session_id, token.name),
  }),
  jsonRoute("sessions.delete", {
    scope: "run",
    at: "writer",
    summary: "Permanently delete a session and all of its data",
    handle: async ({ engine, params, token }) => {
      await engine.sessions.delete(params.session_id, token.name);
      return { type: "session_deleted" as const, id: params.session_id };
    },
  }),
];

/** An admin runs the server, so the MCP servers that they name may have private addresses. */
async function noteUrls(
  engine: Engine,
  token: TokenRow,
  { mcp_servers: servers = [] }: { mcp_servers?: McpServer[] | undefined },
): Promise<void> {
  if (hasScope(token, "admin")) await engine.ownerUrls.add(servers.map(({ url }) => url));
}
