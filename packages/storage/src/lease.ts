import type { SessionId } from "@tandem/protocol";

/**
 * The right to write a session's log. `token` is a fencing token: it grows with each take, so a stale writer is
 * rejected.
 */
export interface Lease {
  session: SessionId;
  token: number;
  /** The other process that held it until now, if its lease had expired. Only on Postgres. */
  former?: string;
}
