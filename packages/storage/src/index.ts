export { exportSession } from "./archive/export-session.ts";
export { importSession } from "./archive/import-session.ts";
export { readAuditHead, verifyAuditFile, writeAuditFile } from "./audit/audit-file.ts";
export { verifyAudit } from "./audit/verify-audit.ts";
export { DUE, WANTED, WEBHOOKS } from "./announcements.ts";
export type { AuditLog } from "./audit-log.ts";
export {
  JOB_STATES,
  type HeldJob,
  type JobEvent,
  type JobLease,
  type JobRow,
  type JobState,
  type JobStore,
} from "./job-store.ts";
export { LeaseLost } from "./lease-lost.ts";
export { BUSY } from "./refusal.ts";
export { isPostgresAway } from "./postgres/translate-postgres-error.ts";
export { openStore } from "./open-store.ts";
export { rewriteSqlite } from "./sqlite/rewrite-sqlite.ts";
export { thisHost } from "./stores/worker-store.ts";
export { listAll, logEvents } from "./read-all.ts";
export { deleteRecords, recordPages } from "./record-pages.ts";
export type { Blobs, RecordChange, Records, StoredRecord } from "./records.ts";
export type { SearchDocument, SearchHit, SearchIndex, SearchQuery } from "./search-index.ts";
export { parseKey, readKeyFile, SecretBox, sealedSecret, type SealedSecret } from "./secret-box.ts";
export type { AccountState, Charge, Claim, SharedScope } from "./spending.ts";
export { DEFAULT_TENANT, type Quotas, type TenantRow } from "./tenant-store.ts";
export { ThreadPool } from "./threads/thread-pool.ts";
export { type WorkerRow, type WorkerStore } from "./worker-store.ts";
export {
  SCOPES,
  type AgentStore,
  type EnvironmentStore,
  type EventLog,
  type EventRange,
  type FileStore,
  type InputQueue,
  type Leases,
  type Scope,
  type SessionChange,
  type SessionRow,
  type SessionStore,
  type Store,
  type ThreadRow,
  type TokenRow,
  type WorkerAccess,
  type TokenStore,
  type TranscriptLine,
  type Transcripts,
  type OutcomeState,
  type WaitingFor,
} from "./store.ts";
export type { EncodedEvent } from "./encoded-event.ts";
export type { Lease } from "./lease.ts";
export type { Page, PageQuery } from "./page.ts";
