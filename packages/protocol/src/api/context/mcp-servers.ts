import { z } from "zod";
import { listOf } from "../page.ts";

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
    description: "An MCP server that sessions have used. Its calls need approval while `changes` is not empty.",
  });
export type KnownMcpServer = z.infer<typeof mcpServer>;

export const mcpServersApi = {
  "mcp_servers.list": { response: listOf(mcpServer) },
  "mcp_servers.retrieve": { response: mcpServer },
  "mcp_servers.accept": { body: z.strictObject({ hash: z.string().min(1) }), response: mcpServer },
};
