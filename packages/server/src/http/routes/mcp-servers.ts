import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

const mcpServer = z
  .object({
    id: z.string(),
    name: z.string(),
    origin: z.string(),
    hash: z.string(),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string().optional(),
        inputSchema: z.looseObject({}),
        annotations: z.looseObject({}).optional(),
      }),
    ),
    accepted: z.object({ hash: z.string(), at: z.string(), by: z.string() }),
    changes: z.array(z.string()),
  })
  .meta({
    id: "McpServer",
    description: "An MCP server that sessions have met. Its calls are asked for while `changes` has something.",
  });

export const mcpServerRoutes: Route[] = [
  jsonRoute({
    name: "mcp_servers.list",
    method: "GET",
    path: "/v1/mcp_servers",
    scope: "read",
    at: "here",
    extension: true,
    summary: "List the MCP servers that sessions have met, with their tools in full",
    response: listOf(mcpServer),
    handle: async ({ engine }) => ({ data: await engine.mcpServers.list() }),
  }),
  jsonRoute({
    name: "mcp_servers.retrieve",
    method: "GET",
    path: "/v1/mcp_servers/:mcp_server_id",
    scope: "read",
    at: "here",
    extension: true,
    summary: "Read one of them",
    response: mcpServer,
    handle: async ({ engine, params }) => engine.mcpServers.get(params.mcp_server_id),
  }),
  jsonRoute({
    name: "mcp_servers.accept",
    method: "POST",
    path: "/v1/mcp_servers/:mcp_server_id/accept",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Accept what a server says of its tools now, by the hash of what was read",
    body: z.strictObject({ hash: z.string().min(1) }),
    response: mcpServer,
    handle: async ({ engine, params, body, token }) =>
      engine.mcpServers.accept(params.mcp_server_id, body.hash, token.name),
  }),
];
