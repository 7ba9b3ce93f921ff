import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createMcpServer, type McpServerParts } from "./create-mcp-server.ts";

/** MCP on stdin and stdout, until the client closes its end. Nothing else may write to stdout meanwhile. */
export async function serveMcpStdio(
  parts: McpServerParts & { stdin: NodeJS.ReadableStream; stdout: NodeJS.WritableStream; signal: AbortSignal },
): Promise<void> {
  const server = createMcpServer(parts);
  const transport = new StdioServerTransport(parts.stdin as never, parts.stdout as never);
  const ended = Promise.withResolvers<void>();
  server.server.onclose = () => ended.resolve();
  parts.stdin.once("end", () => void server.close());
  parts.stdin.once("close", () => void server.close());
  parts.signal.addEventListener("abort", () => void server.close(), { once: true });
  await server.connect(transport);
  await ended.promise;
}
