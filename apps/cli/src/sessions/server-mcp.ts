import type { McpServerView } from "@tandem/sessions";
import { z } from "zod";
import type { ServerConnection } from "./server-connection.ts";
import type { SessionsClient } from "./sessions-client.ts";

// Our own server's words, which it checks itself.
const view = z
  .looseObject({ id: z.string(), name: z.string(), tools: z.array(z.unknown()) })
  .transform((value) => value as unknown as McpServerView);

/** The MCP servers that sessions of the server that is up have met. */
export function serverMcp(server: ServerConnection): SessionsClient["mcpServers"] {
  const at = (id: string): string => `/v1/mcp_servers/${encodeURIComponent(id)}`;
  return {
    list: async () => (await server.call("GET", "/v1/mcp_servers", { schema: z.object({ data: z.array(view) }) })).data,
    get: (id) => server.call("GET", at(id), { schema: view }),
    // Who accepts is who the token belongs to.
    accept: (id, hash) => server.call("POST", `${at(id)}/accept`, { schema: view, body: { hash } }),
  };
}
