import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { TOOL_SERVER } from "./isolation.ts";

/** Longer than any of our tools should take; a tool that needs a shorter deadline sets its own. */
export const HOST_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

/** Claude Code truncates longer results or moves them to a file. */
export const MAX_RESULT_LENGTH = 500_000;

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema draft 7 with an object at the root. */
  inputSchema: Record<string, unknown>;
  /** Claude Code runs several calls of read-only tools in parallel. */
  readOnly?: boolean;
}

type ToolReply = ({ text: string } | { content: CallToolResult["content"] }) & {
  isError?: boolean;
  /** Ends the turn after the model got this result, without another model request. */
  endsTurn?: boolean;
};

/** `toolUseId` is the model's id of the call, if Claude Code provides it. */
export type ToolCall = (
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
  toolUseId: string | undefined,
) => Promise<ToolReply>;

/** Servers with equal keys offer identical tools. */
export const toolServerKey = (tools: readonly ToolDefinition[]): string => JSON.stringify(tools);

/**
 * An in-process MCP server. Uses the low-level handlers, so that schemas are passed verbatim and inputs reach `call`
 * unvalidated: the owner of a tool validates its input and words the error for the model.
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
      _meta: { "anthropic/maxResultSizeChars": MAX_RESULT_LENGTH },
    })),
  }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const reply = await call(params.name, params.arguments ?? {}, signal, toolUseIdOf(params));
    return {
      content: "text" in reply ? [{ type: "text", text: reply.text }] : reply.content,
      ...(reply.isError && { isError: true }),
      ...(reply.endsTurn && { _meta: { "claude/endTurn": true } }),
    };
  });
  return { type: "sdk", name, instance, timeout: timeoutMs };
}

/** The model's id of a call. */
export function toolUseIdOf({ _meta }: { _meta?: Record<string, unknown> | undefined }): string | undefined {
  const id = _meta?.["claudecode/toolUseId"];
  return typeof id === "string" ? id : undefined;
}
