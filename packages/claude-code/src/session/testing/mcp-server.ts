import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A small MCP server on loopback with two tools: `look` echoes its input, `stumble` fails. */
export async function startMcpServer(): Promise<AsyncDisposable & { url: string }> {
  const http = createServer((request, response) => {
    const server = new Server({ name: "eyes", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ["look", "stumble"].map((name) => ({ name, description: name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
      content: [{ type: "text" as const, text: `${params.name}: ${JSON.stringify(params.arguments)}` }],
      ...(params.name === "stumble" && { isError: true }),
    }));
    const transport = new StreamableHTTPServerTransport({});
    // The SDK's own types disagree about optional members.
    void server
      .connect(transport as Parameters<typeof server.connect>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
