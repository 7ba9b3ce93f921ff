import type { AuditEntry, AuditHead, AuditNote, AuditVerdict } from "@tandem/protocol";
import type { AuditLog, Page } from "@tandem/storage";

/** The audit log: one hash chain for all sessions and for actions outside sessions. */
export interface Audit {
  /** Records an action outside sessions. Secrets are redacted and long values truncated before it is stored. */
  note(note: AuditNote): Promise<void>;
  list(query: Parameters<AuditLog["list"]>[0]): Promise<Page<AuditEntry>>;
  /** All entries up to the returned head, in order, including everything until now. */
  export(): Promise<{ head: AuditHead; entries: AsyncIterable<AuditEntry> }>;
  /** Verifies the whole chain; `noted` are heads that were recorded earlier. */
  verify(noted: readonly AuditHead[]): Promise<AuditVerdict>;
}
