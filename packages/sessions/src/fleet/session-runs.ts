import type { SessionId } from "@tandem/protocol";

/** An engine's interface for a fleet worker, which runs the sessions that the queue assigns. */
export interface SessionRuns {
  /** The number of held sessions, and those that cannot be released now. A quota wait needs no capacity. */
  readonly load: { held: number; busy: readonly SessionId[] };
  /** Processes a session's input. Resolves when its turn has ended or waits for an answer, or when the session was released. */
  advance(session: SessionId, signal: AbortSignal): Promise<void>;
  /**
   * Another process says that it has taken the session's lease. If it was not renewed here for long enough for that to be true, the
   * session is given up. Resolves when its process has ended.
   */
  endTaken(session: SessionId): Promise<void>;
  /** Releases one idle session. False if there is none. */
  makeRoom(): Promise<boolean>;
}
