import type { z } from "zod";

export interface ContextToolOutput {
  /** What a model or a person reads. */
  markdown: string;
  /** The same for programs; fits the tool's `output`. */
  structured: Record<string, unknown>;
}

/** Who asks, for what is written down; with the agent whose session it is, if it is one. */
export interface ToolCaller {
  signal: AbortSignal;
  by: string;
  agent?: string;
}

/** A tool over the context, whoever offers it: the MCP server, the command line, an agent loop of our own. */
export interface ContextTool {
  readonly name: string;
  readonly title: string;
  /** For a model: when to use it, what it gives, what to do with that. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** False for those that start work or remember something. */
  readonly readOnly: boolean;
  /** What it throws is a `TandemError` in words for the caller. */
  run(input: unknown, caller: ToolCaller): Promise<ContextToolOutput>;
}
