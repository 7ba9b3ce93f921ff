import type { SessionId } from "@tandem/protocol";
import type { Lease, SessionRow } from "@tandem/storage";

/** The other workers of the fleet. */
export interface PeerWorkers {
  /**
   * Which of these sessions another worker can take over, or may be able to. A worker that does not answer, or that is not known
   * yet, may be able to. Each worker that matches another session has said that it has no database either, and has promised to
   * take no expired lease for the time of a lease, counted from this call (see `RecentOutage`). A worker that has joined since the
   * last `refresh` is not asked. Never rejects.
   */
  contested(sessions: readonly SessionRow[], tenant: string): Promise<ReadonlySet<SessionId>>;
  /**
   * Resolves when the former holder of a lease that this process has taken has no process of the session any more, or does not say
   * so in time. An unknown former holder may be any of the others. Never rejects.
   */
  ended(former: string | undefined, lease: Lease): Promise<void>;
  /** Reads from the database who they are. */
  refresh(): Promise<void>;
}
