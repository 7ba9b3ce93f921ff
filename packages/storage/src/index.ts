export { exportSession } from "./archive/export-session.ts";
export { importSession } from "./archive/import-session.ts";
export { LeaseLost } from "./lease-lost.ts";
export { openStore } from "./open-store.ts";
export {
  SCOPES,
  type AgentStore,
  type EnvironmentStore,
  type EventLog,
  type EventRange,
  type FileStore,
  type Inbox,
  type Lease,
  type Leases,
  type Page,
  type PageQuery,
  type Scope,
  type SessionArchive,
  type SessionChange,
  type SessionRow,
  type SessionStore,
  type Store,
  type ThreadRow,
  type TokenRow,
  type TokenStore,
  type TranscriptLine,
  type Transcripts,
  type WaitingFor,
} from "./store.ts";
