import type { SessionId } from "@tandem/protocol";

/** What a worker of a fleet does with an engine: it lets sessions go on that the queue has given it. */
export interface SessionRuns {
  /** How many sessions are held here, and which of them cannot be let go of now. What waits for a quota needs no room. */
  readonly load: { held: number; busy: readonly SessionId[] };
  /** Takes what waits for a session. Resolves when its turn has ended or waits for somebody, or it is not here any more. */
  advance(session: SessionId, signal: AbortSignal): Promise<void>;
  /** Lets go of one session in which nothing runs. False if there is none. */
  makeRoom(): Promise<boolean>;
}
