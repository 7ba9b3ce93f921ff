import type { ToolCall, ToolDefinition } from "../tool-server.ts";

/** Options that may change between turns. */
export interface TurnSetup {
  model: string;
  tools: readonly ToolDefinition[];
}

/** One message to Claude Code, and its owner's callbacks. */
export interface Turn extends TurnSetup {
  prompt: string;
  signal: AbortSignal;
  callTool: ToolCall;
  /** Called after each step whose tools have run; returns whether another model request may follow. */
  afterTools: (toolNames: string[]) => Promise<boolean>;
}
