import type { AuditEntry, AuditHead, AuditKind, AuditNote, SessionId } from "@tandem/protocol";
import type { Page, PageQuery } from "./page.ts";

/**
 * An append-only hash chain over all sessions: each entry's hash covers the previous hash. Entries cannot be changed or
 * removed; deleting a session keeps its entries.
 */
export interface AuditLog {
  /**
   * Appends entries in order. With `read`, the same transaction moves the session's cursor from `after` to `to`. If
   * another process has moved the cursor already, nothing is written and the result is undefined. This makes auditing a
   * log exactly-once, even if a process crashes.
   */
  append(
    notes: readonly AuditNote[],
    read?: { session: SessionId; after: number; to: number },
  ): Promise<AuditEntry[] | undefined>;
  /** Sequence number after which a session's log has not been audited yet, 0 at first, and that of its last event. */
  cursor(session: SessionId): Promise<{ after: number; head: number }>;
  /** Sessions with events that have not been audited yet. */
  behind(limit: number): Promise<SessionId[]>;
  head(): Promise<AuditHead>;
  /** In order, starting after `after`. */
  read(after: number, limit: number): Promise<AuditEntry[]>;
  /** Newest first by default. `created` filters by `at`. */
  list(
    query: PageQuery & { session?: string; actor?: string; kinds?: readonly AuditKind[] },
  ): Promise<Page<AuditEntry>>;
}
