import type { McpServerConfig } from "@anthropic-ai/claude-agent-sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { createToolServer, toolUseIdOf } from "../tool-server.ts";
import type { ConnectedServer, ConversationSetup } from "./conversation.ts";
import type { PassedCalls } from "./passed-calls.ts";

const NOT_ADMITTED = "This call was not allowed by the session.";

/** Proxies for servers that the host is connected to: each call and answer passes through the host. */
export const connectedServers = (
  { connectedServers = [] }: ConversationSetup,
  passed: PassedCalls,
): Record<string, McpServerConfig> =>
  Object.fromEntries(connectedServers.map((server) => [server.name, createProxyServer(server, passed)]));

function createProxyServer(server: ConnectedServer, passed: PassedCalls): McpServerConfig {
  const { name, tools, timeoutMs } = server;
  const instance = new McpServer({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    if (!passed.admits(toolUseIdOf(params), `mcp__${name}__${params.name}`, params.arguments ?? {})) {
      return { content: [{ type: "text", text: NOT_ADMITTED }], isError: true };
    }
    try {
      return await server.call(params.name, params.arguments ?? {}, signal);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { content: [{ type: "text", text }], isError: true };
    }
  });
  return { type: "sdk", name, instance, timeout: timeoutMs };
}

/** The host's own tools run in this process; their addresses and tokens never leave it. */
export const hostServers = (
  { hostServers = [] }: ConversationSetup,
  passed: PassedCalls,
): Record<string, McpServerConfig> =>
  Object.fromEntries(
    hostServers.map(({ name, tools, timeoutMs }) => [
      name,
      createToolServer(
        tools,
        async (called, input, signal, toolUseId) => {
          if (!passed.admits(toolUseId, `mcp__${name}__${called}`, input)) return { text: NOT_ADMITTED, isError: true };
          const tool = tools.find((candidate) => candidate.name === called);
          return tool ? tool.run(input, signal) : { text: `There is no tool ${called}.`, isError: true };
        },
        { name, timeoutMs },
      ),
    ]),
  );
