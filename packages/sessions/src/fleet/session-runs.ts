import type { SessionId } from "@tandem/protocol";
import type { Lease } from "@tandem/storage";

/** An engine's interface for a fleet worker, which runs the sessions that the queue assigns. */
export interface SessionRuns {
  /** The number of held sessions, and those that cannot be released now. A quota wait needs no capacity. */
  readonly load: { held: number; busy: readonly SessionId[] };
  /** Processes a session's input. Resolves when its turn has ended or waits for an answer, or when the session was released. */
  advance(session: SessionId, signal: AbortSignal): Promise<void>;
  /** Another process has taken this lease. An older one is given up here. Resolves when the session has no process here. */
  endTaken(lease: Pick<Lease, "session" | "token">): Promise<void>;
  /** Releases one idle session. False if there is none. */
  makeRoom(): Promise<boolean>;
}
