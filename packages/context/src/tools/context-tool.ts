import type { z } from "zod";

export interface ContextToolOutput {
  /** For a model or a person. */
  markdown: string;
  /** For programs; matches the tool's `output`. */
  structured: Record<string, unknown>;
}

/** The caller, for records; with the session's agent, if any. */
export interface ToolCaller {
  signal: AbortSignal;
  by: string;
  agent?: string;
}

/** A tool over the context, for the MCP server, the command line and our agent loops. */
export interface ContextTool {
  readonly name: string;
  readonly title: string;
  /** For a model: when to use it, its result, and the next step. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** False for tools that start work or store something. */
  readonly readOnly: boolean;
  /** Throws a `TandemError` worded for the caller. */
  run(input: unknown, caller: ToolCaller): Promise<ContextToolOutput>;
}
