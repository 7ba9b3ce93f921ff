import type { ToolCall, ToolDefinition } from "./tool-server.ts";

/** What can change from turn to turn. */
export interface TurnSetup {
  model: string;
  tools: readonly ToolDefinition[];
}

/** One message to Claude Code, and what its owner does while it is answered. */
export interface Turn extends TurnSetup {
  prompt: string;
  signal: AbortSignal;
  callTool: ToolCall;
  /** After each step whose tools have run; whether the turn may go on to another model request. */
  afterTools: (toolNames: string[]) => Promise<boolean>;
}
