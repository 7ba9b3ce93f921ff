import type {
  ForkParams,
  RewindOutcome,
  RewindParams,
  RewindUndoParams,
  Session,
  SessionCheckpoints,
  SessionDiff,
} from "@tandem/protocol";

/** What became of a session's files and conversation, and how to go back or another way. */
export interface History {
  /** The session's turns and the checkpoints of its folder, oldest first. */
  checkpoints(id: string): Promise<SessionCheckpoints>;
  /**
   * How files differ between two points: checkpoints by id, or `now`. A turn stands for its two; without either, from before
   * the session's first turn to after its last.
   */
  diff(id: string, query: DiffQuery): Promise<SessionDiff>;
  /** Puts files, conversation or both where they stood before a turn. Refused with `conflict` while one runs. */
  rewind(id: string, params: RewindParams, by?: string): Promise<RewindOutcome>;
  /** Takes the last rewind back, if no turn has come after it. */
  undoRewind(id: string, params: RewindUndoParams, by?: string): Promise<RewindOutcome>;
  /** A new session that goes on from before a message, or from the end. The one that it came from is not touched. */
  fork(id: string, params: ForkParams, by?: string): Promise<Session>;
  /** Has the conversation so far replaced by a summary of it, in a turn of its own. */
  compact(id: string, by?: string): Promise<void>;
}

export interface DiffQuery {
  from?: string | undefined;
  to?: string | undefined;
  turn?: number | undefined;
  patch?: boolean | undefined;
}
