import { jsonRoute, type Route } from "../../route.ts";

export const mcpServerRoutes: Route[] = [
  jsonRoute("mcp_servers.list", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "List the MCP servers that sessions have met, with their tools in full",
    handle: async ({ engine }) => ({ data: await engine.mcpServers.list() }),
  }),
  jsonRoute("mcp_servers.retrieve", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "Read one of them",
    handle: async ({ engine, params }) => engine.mcpServers.get(params.mcp_server_id),
  }),
  jsonRoute("mcp_servers.accept", {
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Accept what a server says of its tools now, by the hash of what was read",
    handle: async ({ engine, params, body, token }) =>
      engine.mcpServers.accept(params.mcp_server_id, body.hash, token.name),
  }),
];
