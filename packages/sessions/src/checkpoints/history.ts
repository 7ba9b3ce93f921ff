import type {
  Cassette,
  ForkParams,
  QueryOutput,
  RewindOutcome,
  RewindParams,
  RewindUndoParams,
  Session,
  SessionCheckpoints,
  SessionDiff,
} from "@tandem/protocol";

/** The history of a session's files and conversation: diffs, rewind and fork. */
export interface History {
  /** The session's turns and the checkpoints of its folder, oldest first. */
  checkpoints(id: string): Promise<SessionCheckpoints>;
  /**
   * The diff between two points: checkpoint ids, or `now`. A turn stands for its two checkpoints. By default, from before the
   * first turn to after the last.
   */
  diff(id: string, query: DiffQuery): Promise<SessionDiff>;
  /** The session as a cassette: model answers, calls, events and files, for a replay. Works in any state. */
  cassette(id: string): Promise<Cassette>;
  /** Rewinds files, conversation or both to before a turn. Fails with `conflict` while a turn runs. */
  rewind(id: string, params: RewindParams, by?: string): Promise<RewindOutcome>;
  /** Undoes the last rewind, if no turn followed it. */
  undoRewind(id: string, params: RewindUndoParams, by?: string): Promise<RewindOutcome>;
  /** Creates a session that continues from before a message, or from the end. The source is unchanged. */
  fork(id: string, params: ForkParams, by?: string): Promise<Session>;
  /** Replaces the conversation by its summary, in a separate turn. */
  compact(id: string, by?: string): Promise<void>;
}

export type DiffQuery = Omit<QueryOutput<"sessions.diff">, "patch"> & { patch?: boolean | undefined };
