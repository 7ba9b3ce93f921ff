import type { EventId, Session } from "@tandem/protocol";
import type { TreeDiff } from "@tandem/workspace";
import type { ForeignChange } from "./file-plan.ts";

/** What became of a session's files and conversation, and how to go back or another way. */
export interface History {
  /** The session's turns and the checkpoints of its folder, oldest first. */
  checkpoints(id: string): Promise<{ turns: TurnSummary[]; checkpoints: CheckpointSummary[] }>;
  /**
   * How files differ between two points: checkpoints by id, or `now`. A turn stands for its two; without either, from before
   * the session's first turn to after its last.
   */
  diff(id: string, query: DiffQuery): Promise<SessionDiff>;
  /** Puts files, conversation or both where they stood before a turn. Refused with `conflict` while one runs. */
  rewind(id: string, params: RewindParams): Promise<RewindOutcome>;
  /** Takes the last rewind back, if no turn has come after it. */
  undoRewind(id: string, params: { force?: boolean }): Promise<RewindOutcome>;
  /** A new session that goes on from before a message, or from the end. The one that it came from is not touched. */
  fork(id: string, params: ForkParams): Promise<Session>;
  /** Has the conversation so far replaced by a summary of it, in a turn of its own. */
  compact(id: string, by?: string): Promise<void>;
}

export interface TurnSummary {
  turn: number;
  message_id: EventId;
  at: string | null;
  text: string;
  rewound: boolean;
  files_changed: number | null;
}

export interface CheckpointSummary {
  checkpoint_id: string;
  when: "before" | "after" | "rewind" | "rewound";
  message_id: EventId | null;
  turn: number | null;
  at: string | null;
  files_changed: number;
  skipped: number;
  /** Whether it is still there to go back to. */
  kept: boolean;
}

export interface DiffQuery {
  from?: string;
  to?: string;
  turn?: number;
  patch?: boolean;
}

export interface SessionDiff extends TreeDiff {
  from: string;
  to: string;
  /** Files that were left out because of their size; how they differ is not known. */
  skipped: string[];
}

export type RewindScope = "files" | "conversation" | "both";

export interface RewindParams {
  to_message_id?: string;
  turn?: number;
  scope?: RewindScope;
  dry_run?: boolean;
  /** Over what others have changed as well. */
  force?: boolean;
}

export interface RewindOutcome {
  dry_run: boolean;
  scope: RewindScope;
  /** Where the session stands then: before this message. Null where a rewind was undone. */
  to_message_id: EventId | null;
  turn: number | null;
  /** What changes in the files; null where they are not touched. */
  diff: TreeDiff | null;
  /** What is in the way, or was. */
  foreign: ForeignChange[];
  /** How many turns the agent forgets. */
  turns: number;
}

export interface ForkParams {
  before_message_id?: string;
  turn?: number;
  /** Where it works; without it, where the session works that it comes from. */
  environment_id?: string;
  /** In a git worktree of its own, with the files as they were then. */
  worktree?: boolean;
  title?: string | null;
}
