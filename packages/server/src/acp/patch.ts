import type { TextBlock } from "@tandem/protocol";

// What a client of ACP is shown, as entities and changes of them: what is left out stays as it was, chunks are added. Each
// version of the protocol says the same in its own shapes.

/** Something to read or to look at. */
export type Piece =
  | TextBlock
  | { type: "image"; data: string; mimeType: string }
  /** `oldText` is null where there was no such file. */
  | { type: "diff"; path: string; oldText: string | null; newText: string; hunk?: DiffHunk };

/** Where in the file it is, and its lines with their signs. */
interface DiffHunk {
  oldStart: number;
  newStart: number;
  lines: readonly string[];
}

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
  /** Seconds that it has run. */
  elapsed?: number;
  /** Why it has no result of its own. */
  reason?: string;
}

/** Whose it is, where it is a subagent's. */
export interface Child {
  thread: string;
  agent: string | null;
  /** The call by which the subagent was called, where that is known. */
  call: string | undefined;
}

export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Whether something is being done; and if not, how the last turn ended, where there was one. */
export type SessionState =
  | { state: "running" | "requires_action" }
  | {
      state: "idle";
      stop?: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "error";
      error?: { code: number; message: string };
    };

export type Patch = { child?: Child } & (
  | { type: "message"; role: "user" | "agent" | "thought"; id: string; piece: Exclude<Piece, { type: "diff" }> }
  | { type: "tool_call"; id: string; change: ToolCallChange }
  | { type: "plan"; entries: { content: string; status: "pending" | "in_progress" | "completed" }[] }
  | { type: "usage"; used: number; size: number; usd: number }
  | { type: "notice"; severity: "info" | "warning" | "error"; title: string; description?: string }
  | { type: "compaction"; id: string; tokensBefore: number; tokensAfter?: number }
  | { type: "subagent"; child: Child; state: "running" | "idle" }
  | { type: "info"; title: string | null; at: string | null }
  | ({ type: "state" } & SessionState)
);
