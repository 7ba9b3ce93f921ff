import type { SCOPES } from "@tandem/protocol";
import {
  type Agent,
  type Announcement,
  type AgentId,
  type Environment,
  type EnvironmentId,
  type EventId,
  type FileId,
  type FileMetadata,
  type LoggedEvent,
  type OutcomeEvaluation,
  type Session,
  type SessionEvent,
  type SessionId,
  type SessionOutcome,
  type SessionStatus,
  type Thread,
  type ThreadId,
  type TokenId,
  type CutShort,
} from "@tandem/protocol";
import type { Announcements } from "./announcements.ts";
import type { AuditLog } from "./audit-log.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { JobStore } from "./job-store.ts";
import type { Lease } from "./lease.ts";
import type { Page, PageQuery } from "./page.ts";
import type { Blobs, Records } from "./records.ts";
import type { SearchIndex } from "./search-index.ts";
import type { Spending } from "./spending.ts";
import type { TenantStore } from "./tenant-store.ts";
import type { WorkerStore } from "./worker-store.ts";

export { SCOPES } from "@tandem/protocol";

/**
 * All durable state, in SQLite or Postgres. Once a promise has resolved, its write survives a crash. Calls reject with
 * `RequestError("unavailable")` while the database is unreachable, and recover by themselves.
 */
export interface Store extends AsyncDisposable {
  readonly events: EventLog;
  readonly inputQueue: InputQueue;
  readonly leases: Leases;
  readonly sessions: SessionStore;
  readonly agents: AgentStore;
  readonly environments: EnvironmentStore;
  readonly files: FileStore;
  readonly transcripts: Transcripts;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  readonly announcements: Announcements;
  readonly records: Records;
  readonly blobs: Blobs;
  readonly jobs: JobStore;
  readonly search: SearchIndex;
  readonly spending: Spending;
  /** Tenants, tokens and workers are shared by all tenants. */
  readonly tenants: TenantStore;
  readonly workers: WorkerStore;
  /**
   * A tenant's own store, cached while open. Everything but the shared stores is in the tenant's own tables. It is
   * closed together with this store. Rejects with `RequestError("not_found")` for an unknown tenant.
   */
  tenant(id: string): Promise<Store>;
  /** Lends a tenant's store for a short look. Afterwards it is closed, unless `tenant` has opened it too. */
  borrowTenant<T>(id: string, look: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Deletes a space's jobs, records, blobs and search documents. Rejects with `RequestError("conflict")` while one of
   * its jobs runs. Not atomic: repeat the call if it was interrupted.
   */
  deleteSpace(space: string): Promise<void>;
  /** Resolves if the database answers and its schema version is usable. */
  check(): Promise<void>;
  /** Storage details for people. */
  describe(): Promise<{ engine: "sqlite" | "postgres"; place: string; schema: number; bytes: number }>;
}

/** An update of the session's row, committed together with the events. Absent fields stay. */
export type SessionChange = Partial<
  Pick<
    SessionRow,
    | "status"
    | "title"
    | "metadata"
    | "agent"
    | "budget"
    | "usage"
    | "microUsd"
    | "modelMicroUsd"
    | "parked"
    | "cutShort"
    | "outcome"
    | "outcomes"
    | "activeMs"
    | "archivedAt"
    | "claudeSession"
    | "folder"
    | "place"
    | "waitingFor"
    | "resources"
  >
>;

export interface EventLog {
  /**
   * Appends events in one transaction, together with the queued input that they consume (by event id), new or changed
   * threads, and the change of the session's row, and announces the changes of its state to webhooks. Rejects with `LeaseLost`, writing nothing, if the lease was taken
   * over. Sequence numbers have no gaps. Appends of one session keep the order of the calls, awaited or not.
   * Idempotent: a retry after a lost response returns the events that are already stored.
   */
  append(
    lease: Lease,
    entries: readonly { thread: ThreadId | null; event: SessionEvent }[],
    with_?: {
      session?: SessionChange;
      /** The row after that change, of a writer that has written every change under this lease: saves reading it. */
      row?: SessionRow;
      taken?: readonly string[];
      threads?: readonly ThreadRow[];
      /** Besides those of the events. */
      announce?: readonly Announcement[];
    },
  ): Promise<LoggedEvent[]>;
  /**
   * A page of a session's log: ascending from after `after` or, with `order: "desc"`, descending from before `before`.
   */
  read(session: SessionId, range: EventRange): Promise<LoggedEvent[]>;
  /** As `read`, without parsing what is stored. */
  readEncoded(session: SessionId, range: EventRange): Promise<EncodedEvent[]>;
  find(session: SessionId, id: string): Promise<LoggedEvent | undefined>;
  /** Last sequence number; 0 for an empty log. */
  head(session: SessionId): Promise<number>;
  /**
   * Yields stored events after `after`, then live ones, without gaps or repeats, until the signal fires or the session
   * is deleted. Appends of this process arrive synchronously with their commit, before `append` resolves; others within
   * moments. A slow consumer builds up no queue: it re-reads from the log. Waits while the database is away, unless it
   * is unreachable at the start.
   */
  follow(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]>;
  followEncoded(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<EncodedEvent[]>;
  /** Called with each committed batch of this process, before `append` resolves. Returns an unsubscribe function. */
  onAppend(listener: (session: SessionId, events: readonly LoggedEvent[]) => void): () => void;
  /**
   * Called within moments when any process creates, extends or deletes a log; includes job logs. `undefined` means that
   * any log may have changed: at the start, after a database outage, and always on SQLite. Returns an unsubscribe
   * function.
   */
  onGrowth(listener: (session: SessionId | undefined, isGone: boolean) => void): () => void;
}

export interface EventRange {
  after?: number;
  before?: number;
  order?: "asc" | "desc";
  limit: number;
  types?: readonly string[];
  /** Events of one thread; `null` for the primary thread, including events shown there. Absent: all. */
  thread?: ThreadId | null;
  /** Filters by `processed_at`. */
  since?: { gt?: string; gte?: string; lt?: string; lte?: string };
}

/** Client input that no turn has taken yet. Putting needs no lease. */
export interface InputQueue {
  /** Atomic. With `after`, a `RequestError("conflict")` if anything was put since that `position`. */
  put(session: SessionId, events: readonly SessionEvent[], options?: { after?: number }): Promise<void>;
  /** Increases with each put. */
  position(session: SessionId): Promise<number>;
  /** Waiting input in order of arrival. */
  list(session: SessionId): Promise<SessionEvent[]>;
  /** Sessions with waiting input. */
  sessions(): Promise<SessionId[]>;
  /**
   * Called for each put: of this process at once, of others within moments. After subscribing or a database outage, it
   * is also called for sessions with waiting input. Returns an unsubscribe function.
   */
  onPut(listener: (session: SessionId) => void): () => void;
}

export interface Leases {
  /**
   * Takes the lease if it is free or expired. Undefined if it is held; see `holder`. An unknown session is
   * `RequestError("not_found")`.
   */
  take(
    session: SessionId,
    holder: string,
    ttlMs: number,
    /** Leave an expired lease to its holder, unless that is the caller: after an outage, holders renew late. */
    options?: { onlyReleased?: boolean },
  ): Promise<Lease | undefined>;
  /** Extends leases; returns the ones lost in the meantime. */
  renew(leases: readonly Lease[], ttlMs: number): Promise<Lease[]>;
  release(lease: Lease): Promise<void>;
  holder(session: SessionId): Promise<{ holder: string; expiresAt: string } | undefined>;
  /** Sessions with status running or rescheduling but without a valid lease: their writer has crashed. */
  abandoned(): Promise<SessionId[]>;
  /** Sessions that need a worker: abandoned ones, and ones with waiting input and no lease holder. */
  waitingForWorker(): Promise<{ session: SessionId; place: string | null; since: string }[]>;
  /** All valid leases. */
  held(): Promise<{ session: SessionId; holder: string; expiresAt: string }[]>;
}

export interface SessionRow {
  id: SessionId;
  status: SessionStatus;
  agent: Session["agent"];
  environmentId: string;
  title: string | null;
  metadata: Record<string, string>;
  resources: Session["resources"];
  budget: Session["budget"];
  usage: Session["usage"];
  /** The list cost in micro-dollars, not rounded to cents. If absent, use the cents of `usage`. */
  microUsd?: number;
  /** The same by model. */
  modelMicroUsd?: Record<string, number>;
  /** Total milliseconds in turns. */
  activeMs: number;
  /** Calls that wait for a person or a client, denormalised so that lists need not read logs. */
  waitingFor: WaitingFor[];
  /** Set while the turn waits for a quota to reset. */
  parked?: { resetsAt: string; kind: string } | null;
  /** Why the last turn failed or was interrupted. */
  cutShort?: CutShort | null;
  /** The result so far, for lists. */
  outcome?: SessionOutcome | null;
  /** The outcomes that clients defined, oldest first. */
  outcomes?: OutcomeState[];
  /** A worker of its environment runs the tools; nothing of the session runs here but the model's part. */
  selfHosted?: true;
  /** Working folder. */
  folder: string;
  /** Host or volume that has the folder; only workers that reach it can run the session. Null: any worker. */
  place: string | null;
  /** The deployment whose run created it. */
  deploymentId?: string;
  /** The vaults whose credentials it may use, the first match first. Absent: none. */
  vaultIds?: string[];
  /** Claude Code's own id of the conversation; undefined before the first turn. */
  claudeSession: string | undefined;
  primaryThread: ThreadId;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
}

/** An outcome as clients see it, and what its evaluation needs. */
export interface OutcomeState extends OutcomeEvaluation {
  /** The event that defined it, which has the rubric. */
  event_id: EventId;
  max_iterations: number;
  /** The evaluation in progress, by the event that started it. */
  start_id: EventId | null;
}

export interface WaitingFor {
  event_id: string;
  /** `tool_result`: a worker of the self-hosted environment runs the call. */
  type: "tool_confirmation" | "custom_tool_result" | "tool_result";
  name: string;
  /** The thread of a subagent. */
  thread?: ThreadId;
  /** A person has allowed the call, and it has not started. It stays in the list of approvals, and needs no answer. */
  allowed?: true;
}

export interface ThreadRow {
  id: ThreadId;
  session: SessionId;
  parent: ThreadId | null;
  agent: Thread["agent"];
  status: SessionStatus;
  usage: Thread["usage"];
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
  /** The workflow run that created the thread. */
  workflowRunId?: string;
}

export interface SessionStore {
  /** Creates the session, its primary thread and its first input in one transaction. */
  create(row: SessionRow, input: readonly SessionEvent[]): Promise<void>;
  /**
   * Restores an exported session atomically. Events are renumbered from 1. Rejects with `RequestError("conflict")` if
   * the id exists.
   */
  restore(archive: SessionArchive): Promise<void>;
  get(id: string): Promise<SessionRow | undefined>;
  list(
    query: PageQuery & {
      agentId?: string;
      agentVersion?: number;
      statuses?: readonly SessionStatus[];
      /** Only sessions that wait for a person or a client. */
      waiting?: true;
      /** Only sessions that have this memory store among their resources. */
      memoryStoreId?: string;
      deploymentId?: string;
    },
  ): Promise<Page<SessionRow>>;
  threads(session: SessionId): Promise<ThreadRow[]>;
  /** Permanently deletes the session, its log, input queue, threads, transcripts and files. */
  delete(lease: Lease): Promise<void>;
  /** Usage by day (UTC) and agent, for sessions updated in that span. */
  usage(span: { from: string; to: string }): Promise<{ day: string; agentId: string; usd: number; sessions: number }[]>;
  /** The same by day and model. Reads the rows of all sessions in the span, so it is for charts, not for lists. */
  modelUsage(span: { from: string; to: string }): Promise<{ day: string; model: string; usd: number }[]>;
}

/** A session without its uploaded files. */
export interface SessionArchive {
  session: SessionRow;
  /** Including the primary thread. */
  threads: readonly ThreadRow[];
  events: readonly LoggedEvent[];
  input: readonly SessionEvent[];
  transcripts: readonly { subpath: string; lines: readonly TranscriptLine[] }[];
}

export interface AgentStore {
  create(agent: Agent): Promise<void>;
  /** The newest version by default. */
  get(id: string, version?: number): Promise<Agent | undefined>;
  /** Rejects with `RequestError("conflict")` if `agent.version` is not the newest version plus one. */
  addVersion(agent: Agent): Promise<void>;
  archive(id: AgentId, at: string): Promise<void>;
  list(query: PageQuery): Promise<Page<Agent>>;
  /** Newest first. */
  versions(id: AgentId, query: PageQuery): Promise<Page<Agent>>;
}

export interface EnvironmentStore {
  create(environment: Environment): Promise<void>;
  get(id: string): Promise<Environment | undefined>;
  update(environment: Environment): Promise<void>;
  /** Rejects with `RequestError("conflict")` while unarchived sessions use it. */
  delete(id: EnvironmentId): Promise<void>;
  list(query: PageQuery): Promise<Page<Environment>>;
}

/** Uploaded files. Their content is stored in the database too. */
export interface FileStore {
  create(file: FileMetadata, content: Uint8Array): Promise<void>;
  get(id: string): Promise<FileMetadata | undefined>;
  content(id: FileId): Promise<Uint8Array | undefined>;
  delete(id: FileId): Promise<boolean>;
  list(query: PageQuery & { ids?: readonly string[]; scope?: string }): Promise<Page<FileMetadata>>;
}

/** Claude Code's transcripts, line by line, so that a conversation can resume in another process, home or machine. */
export interface Transcripts {
  /** Keeps order and skips lines whose `uuid` is stored already. Fenced like the log. */
  append(lease: Lease, subpath: string, lines: readonly TranscriptLine[]): Promise<void>;
  load(session: SessionId, subpath: string): Promise<TranscriptLine[]>;
  subpaths(session: SessionId): Promise<string[]>;
  /** Replaces the stored lines, after an import or a rewind. */
  replace(lease: Lease, subpath: string, lines: readonly TranscriptLine[]): Promise<void>;
}

/** One line of a transcript as Claude Code wrote it. */
export type TranscriptLine = Record<string, unknown> & { uuid?: string };

export type Scope = (typeof SCOPES)[number];

export interface TokenRow {
  id: TokenId;
  name: string;
  /** Owner of the token. */
  tenant: string;
  /** Hash of the secret; the secret itself is not stored. */
  sha256: string;
  scopes: readonly Scope[];
  /** The token of a worker. It has no scopes. */
  worker?: WorkerAccess;
  createdAt: string;
  lastUsedAt: string | null;
}

/** The rights of a worker of a self-hosted environment. */
export interface WorkerAccess {
  environment: string;
  /** Only this item of its queue, with its session. Without it, the token is an environment key. */
  work?: { id: string; session: string };
}

export interface TokenStore {
  create(token: TokenRow): Promise<void>;
  findByHash(sha256: string): Promise<TokenRow | undefined>;
  /** All tokens, or one tenant's. */
  list(tenant?: string): Promise<TokenRow[]>;
  delete(id: TokenId): Promise<boolean>;
  touch(id: TokenId, at: string): Promise<void>;
}
