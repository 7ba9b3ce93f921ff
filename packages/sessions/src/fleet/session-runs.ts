import type { SessionId } from "@tandem/protocol";

/** An engine's interface for a fleet worker, which runs the sessions that the queue assigns. */
export interface SessionRuns {
  /** The number of held sessions, and those that cannot be released now. A quota wait needs no capacity. */
  readonly load: { held: number; busy: readonly SessionId[] };
  /** Processes a session's input. Resolves when its turn has ended or waits for an answer, or when the session was released. */
  advance(session: SessionId, signal: AbortSignal): Promise<void>;
  /** Releases one idle session. False if there is none. */
  makeRoom(): Promise<boolean>;
}
