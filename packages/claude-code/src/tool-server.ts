import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { TOOL_SERVER } from "./isolation.ts";

/** Longer than any tool or callback of ours should take; one that needs a shorter deadline has its own. */
export const HOST_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

/** Claude Code shows the model no more of a result than this; what is longer would be cut or put into a file instead. */
export const LONGEST_RESULT = 500_000;

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema, draft 7, an object at its root. */
  inputSchema: Record<string, unknown>;
}

interface ToolReply {
  text: string;
  isError?: boolean;
  /** The turn is over once the model has been told; no further model request is made. */
  endsTurn?: boolean;
}

export type ToolCall = (name: string, input: unknown, signal: AbortSignal) => Promise<ToolReply>;

/** Two servers with the same key offer the same tools in the same words. */
export const toolServerKey = (tools: readonly ToolDefinition[]): string => JSON.stringify(tools);

/**
 * An in-process MCP server with the given tools. The low-level handlers are used so that schemas travel as they are and
 * inputs reach `call` unchecked: whoever defined a tool validates its input, and so words the complaint to the model.
 */
export function createToolServer(tools: readonly ToolDefinition[], call: ToolCall): McpSdkServerConfigWithInstance {
  const instance = new McpServer({ name: TOOL_SERVER, version: "1.0.0" }, { capabilities: { tools: {} } });
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: "object" as const },
      _meta: { "anthropic/maxResultSizeChars": LONGEST_RESULT },
    })),
  }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const reply = await call(params.name, params.arguments ?? {}, signal);
    return {
      content: [{ type: "text", text: reply.text }],
      ...(reply.isError && { isError: true }),
      ...(reply.endsTurn && { _meta: { "claude/endTurn": true } }),
    };
  });
  return { type: "sdk", name: TOOL_SERVER, instance, timeout: HOST_TIMEOUT_MS };
}
