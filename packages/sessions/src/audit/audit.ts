import type { AuditEntry, AuditHead, AuditNote, AuditVerdict } from "@tandem/protocol";
import type { AuditLog, Page } from "@tandem/storage";

/** Who did what: entries of all sessions and of what is no session's, in one chain. */
export interface Audit {
  /** Enters what no session's log says. Secrets are taken out, and long values cut, before it is kept. */
  note(note: AuditNote): Promise<void>;
  list(query: Parameters<AuditLog["list"]>[0]): Promise<Page<AuditEntry>>;
  /** All entries up to the head that is returned, in order. What has happened until now is among them. */
  export(): Promise<{ head: AuditHead; entries: AsyncIterable<AuditEntry> }>;
  /** Goes through the whole chain; `noted` are heads that were seen earlier. */
  verify(noted: readonly AuditHead[]): Promise<AuditVerdict>;
}
