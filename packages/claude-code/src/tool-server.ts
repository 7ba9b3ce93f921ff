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
  /** Claude Code makes several calls of such tools at once. */
  readOnly?: boolean;
}

type ToolReply = ({ text: string } | { content: CallToolResult["content"] }) & {
  isError?: boolean;
  /** The turn is over once the model has been told; no further model request is made. */
  endsTurn?: boolean;
};

/** `toolUseId` is the model's own id of the call, where Claude Code tells it. */
export type ToolCall = (
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
  toolUseId: string | undefined,
) => Promise<ToolReply>;

/** Two servers with the same key offer the same tools in the same words. */
export const toolServerKey = (tools: readonly ToolDefinition[]): string => JSON.stringify(tools);

/**
 * An in-process MCP server with the given tools. The low-level handlers are used so that schemas travel as they are and
 * inputs reach `call` unchecked: whoever defined a tool validates its input, and so words the complaint to the model.
 */
export function createToolServer(
  tools: readonly ToolDefinition[],
  call: ToolCall,
  { name = TOOL_SERVER, timeoutMs = HOST_TIMEOUT_MS } = {},
): McpSdkServerConfigWithInstance {
  const instance = new McpServer({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema, readOnly }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: "object" as const },
      ...(readOnly && { annotations: { readOnlyHint: true } }),
      _meta: { "anthropic/maxResultSizeChars": LONGEST_RESULT },
    })),
  }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const toolUseId = params._meta?.["claudecode/toolUseId"];
    const reply = await call(
      params.name,
      params.arguments ?? {},
      signal,
      typeof toolUseId === "string" ? toolUseId : undefined,
    );
    return {
      content: "text" in reply ? [{ type: "text", text: reply.text }] : reply.content,
      ...(reply.isError && { isError: true }),
      ...(reply.endsTurn && { _meta: { "claude/endTurn": true } }),
    };
  });
  return { type: "sdk", name, instance, timeout: timeoutMs };
}
