import type { AuditEntry, AuditHead, AuditNote, SessionId } from "@tandem/protocol";
import type { Page, PageQuery } from "./store.ts";

/**
 * Who did what, in one chain over everything: each entry's hash covers the hash before it. There is no way here to change
 * or remove an entry; what is deleted elsewhere leaves its entries.
 */
export interface AuditLog {
  /**
   * Adds entries at the end, in their order. With `read`, in the same transaction, notes that a session's log has been read
   * from `after` up to `to`; if it was read by somebody else meanwhile, nothing is written: undefined. So nothing that a log
   * says is entered twice, or lost, whoever dies when.
   */
  append(
    notes: readonly AuditNote[],
    read?: { session: SessionId; after: number; to: number },
  ): Promise<AuditEntry[] | undefined>;
  /** Up to where a session's log has been read; 0 where it has not. */
  cursor(session: SessionId): Promise<number>;
  /** Sessions whose logs go further than they have been read. */
  behind(limit: number): Promise<SessionId[]>;
  head(): Promise<AuditHead>;
  /** In order, from after `after`. */
  read(after: number, limit: number): Promise<AuditEntry[]>;
  /** Newest first, unless told otherwise. `created` is by `at`. */
  list(query: PageQuery & { session?: string; actor?: string; kinds?: readonly string[] }): Promise<Page<AuditEntry>>;
}
