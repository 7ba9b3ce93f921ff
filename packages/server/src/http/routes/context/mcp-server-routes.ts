import { jsonRoute, type Route } from "../../route.ts";

export const mcpServerRoutes: Route[] = [
  jsonRoute("mcp_servers.list", {
    scope: "read",
    at: "here",
    summary: "List the MCP servers that sessions have used, with their full tool definitions",
    handle: async ({ engine }) => ({ data: await engine.mcpServers.list() }),
  }),
  jsonRoute("mcp_servers.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve an MCP server with its tools",
    handle: async ({ engine, params }) => engine.mcpServers.get(params.mcp_server_id),
  }),
  jsonRoute("mcp_servers.accept", {
    scope: "admin",
    at: "here",
    summary: "Accept the tool definitions that an MCP server lists now, by the hash of the reviewed text",
    handle: async ({ engine, params, body, token }) =>
      engine.mcpServers.accept(params.mcp_server_id, body.hash, token.name),
  }),
];
