import type { TextBlock } from "@tandem/protocol";

// Changes of the entities that a client is shown: omitted fields keep their value, message pieces are appended.

export type Piece =
  | TextBlock
  | { type: "image"; data: string; mimeType: string }
  /** `oldText` is null for a new file. */
  | { type: "diff"; path: string; oldText: string | null; newText: string };

export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other";

export interface ToolCallChange {
  /** Claude Code's own name, or `mcp__SERVER__TOOL`. */
  name?: string;
  title?: string;
  kind?: ToolKind;
  status?: "pending" | "in_progress" | "completed" | "failed";
  content?: Piece[];
  locations?: { path: string; line?: number }[];
  input?: Record<string, unknown>;
  output?: string;
  /** Seconds since the call started. */
  elapsed?: number;
  /** Why the call has no result. */
  reason?: string;
}

/** The subagent that an update belongs to. */
export interface Child {
  thread: string;
  agent: string | null;
  /** The call that started the subagent, if known. */
  call: string | undefined;
}

export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export type Patch = { child?: Child } & (
  | { type: "message"; role: "user" | "agent" | "thought"; id: string; piece: Exclude<Piece, { type: "diff" }> }
  | { type: "tool_call"; id: string; change: ToolCallChange }
  | { type: "plan"; entries: { content: string; status: "pending" | "in_progress" | "completed" }[] }
  | { type: "usage"; used: number; size: number; usd: number }
  | { type: "notice"; severity: "info" | "warning" | "error"; title: string; description?: string }
  | { type: "compaction"; id: string; tokensBefore: number; tokensAfter?: number }
  | { type: "subagent"; child: Child; state: "running" | "idle" }
  | { type: "info"; title: string | null; at: string | null }
);
