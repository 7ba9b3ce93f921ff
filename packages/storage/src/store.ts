import type {
  Agent,
  AgentId,
  Environment,
  EnvironmentId,
  FileId,
  FileMetadata,
  LoggedEvent,
  Session,
  SessionEvent,
  SessionId,
  SessionStatus,
  Thread,
  ThreadId,
  TokenId,
  CutShort,
} from "@tandem/protocol";
import type { AuditLog } from "./audit-log.ts";
import type { JobStore } from "./job-store.ts";
import type { Blobs, Records } from "./records.ts";
import type { SearchIndex } from "./search-index.ts";
import type { Spending } from "./spending.ts";
import type { TenantStore } from "./tenant-store.ts";
import type { WorkerStore } from "./worker-store.ts";

/**
 * Everything durable, in SQLite or Postgres. What a promise here has resolved for survives the death of the process.
 * A database that cannot be reached rejects with `RequestError("unavailable")`, and works again once it can be.
 */
export interface Store extends AsyncDisposable {
  readonly events: EventLog;
  readonly inbox: Inbox;
  readonly leases: Leases;
  readonly sessions: SessionStore;
  readonly agents: AgentStore;
  readonly environments: EnvironmentStore;
  readonly files: FileStore;
  readonly transcripts: Transcripts;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  readonly records: Records;
  readonly blobs: Blobs;
  readonly jobs: JobStore;
  readonly search: SearchIndex;
  readonly spending: Spending;
  /** Shared by all tenants, as are the tokens and the workers. */
  readonly tenants: TenantStore;
  readonly workers: WorkerStore;
  /**
   * A tenant's own store, the same one as long as it is open: all in it is in tables that are the tenant's alone, but what
   * all share. It is closed with this one. `RequestError("not_found")` if there is no such tenant.
   */
  tenant(id: string): Promise<Store>;
  /**
   * Removes all that is a space's: jobs, records, blobs, search documents. Rejects with `RequestError("conflict")` while
   * somebody works on one of its jobs. Not one transaction: one that was cut off is repeated.
   */
  deleteSpace(space: string): Promise<void>;
  /** Resolves if the database answers and its schema is ours. */
  check(): Promise<void>;
  /** What is on disk, for people. */
  describe(): Promise<{ engine: "sqlite" | "postgres"; place: string; schema: number; bytes: number }>;
}

/** The right to write a session's log. `token` grows with every taker, so that a writer that lost it is fenced off. */
export interface Lease {
  session: SessionId;
  token: number;
}

/** A change to a session's own row that belongs to the events it is appended with. Absent fields stay. */
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
    | "parked"
    | "cutShort"
    | "activeMs"
    | "archivedAt"
    | "claudeSession"
    | "folder"
    | "place"
    | "waitingFor"
  >
>;

export interface EventLog {
  /**
   * Appends events in one transaction, with the inbox entries that they take up (by event id), the threads they begin or
   * change and the change to the session's row. Rejects with `LeaseLost` if the lease has been taken over: nothing is
   * written then. Sequence numbers go on from the session's last one, without gaps. Appends of one session are stored in the
   * order of the calls, awaited or not. One that is repeated, because its answer was lost with the connection, is stored
   * once: the events that are in the log are returned.
   */
  append(
    lease: Lease,
    entries: readonly { thread: ThreadId | null; event: SessionEvent }[],
    with_?: { session?: SessionChange; taken?: readonly string[]; threads?: readonly ThreadRow[] },
  ): Promise<LoggedEvent[]>;
  /** A page of a session's log: in order, from after `after` or, with `order: "desc"`, down from before `before`. */
  read(session: SessionId, range: EventRange): Promise<LoggedEvent[]>;
  find(session: SessionId, id: string): Promise<LoggedEvent | undefined>;
  /** The last sequence number of a session; 0 where there is none yet. */
  head(session: SessionId): Promise<number>;
  /**
   * Events after `after`, first those that are there, then those to come, without gap or repeat, until the signal fires or
   * the session is deleted. Appends of this process are handed over synchronously with their commit, before `append`
   * resolves; those of others follow within moments. A consumer that does not keep up makes no queue: it is read for
   * again from the log. A database that goes away is waited for, but not one that is away from the beginning.
   */
  follow(session: SessionId, after: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]>;
  /** Called with each batch of events that this process commits, before `append` resolves. Returns how to stop. */
  onAppend(listener: (session: SessionId, events: readonly LoggedEvent[]) => void): () => void;
  /**
   * Called with the session whose log anybody has added to, or has made or removed, within moments; what is said of jobs'
   * logs is said here too. With undefined where any may have: after it was added, after the database was away, and on
   * SQLite always. Returns how to stop.
   */
  onGrowth(listener: (session: SessionId | undefined, isGone: boolean) => void): () => void;
}

export interface EventRange {
  after?: number;
  before?: number;
  order?: "asc" | "desc";
  limit: number;
  types?: readonly string[];
  /** A thread's own events; `null` for the primary thread's, with what is shown there too. Absent: all. */
  thread?: ThreadId | null;
  /** By `processed_at`. */
  since?: { gt?: string; gte?: string; lt?: string; lte?: string };
}

/** What clients have sent and no turn has taken yet. Whoever may talk to a session may put: no lease is needed. */
export interface Inbox {
  /** Stores all of them or none. */
  put(session: SessionId, events: readonly SessionEvent[]): Promise<void>;
  /** What waits, in the order it came. */
  list(session: SessionId): Promise<SessionEvent[]>;
  /** Sessions that have something waiting. */
  sessions(): Promise<SessionId[]>;
  /**
   * Called with the session of each put of this process at once, and of others within moments; also, after it was added or
   * the database was away, with sessions that have something waiting. Returns how to stop.
   */
  onPut(listener: (session: SessionId) => void): () => void;
}

export interface Leases {
  /**
   * Takes the lease if nobody holds it, or its holder has let it run out. Undefined if it is held: see `holder`. A session
   * that does not exist is `RequestError("not_found")`.
   */
  take(session: SessionId, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Prolongs leases; returns those that were lost in the meantime. */
  renew(leases: readonly Lease[], ttlMs: number): Promise<Lease[]>;
  release(lease: Lease): Promise<void>;
  holder(session: SessionId): Promise<{ holder: string; expiresAt: string } | undefined>;
  /** Sessions whose row says running or rescheduling though nobody holds their lease: their writer has died. */
  abandoned(): Promise<SessionId[]>;
  /** Those, and sessions that have something in their inbox and nobody who holds them: whom a worker is wanted for. */
  wanted(): Promise<{ session: SessionId; place: string | null; since: string }[]>;
  /** All that are held now, by holder. */
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
  /** The same as its list cost, and not rounded to cents: what is absent is as the cents say. */
  microUsd?: number;
  /** Milliseconds spent in turns. */
  activeMs: number;
  /** Calls that wait for a person or a client, so that lists over all sessions need not read logs. */
  waitingFor: WaitingFor[];
  /** Until when its turn waits for a quota, where one does. */
  parked?: { resetsAt: string; kind: string } | null;
  /** Why its last turn came to no good end, where it did not. */
  cutShort?: CutShort | null;
  /** Where it works. */
  folder: string;
  /** Which workers can take it; null for any. */
  place: string | null;
  /** The conversation's id in Claude Code's own books; undefined before its first turn. */
  claudeSession: string | undefined;
  primaryThread: ThreadId;
  createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
}

export interface WaitingFor {
  event_id: string;
  type: "tool_confirmation" | "custom_tool_result";
  name: string;
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
}

/** A page of a list that is sorted by time of creation and id; `next` and `previous` are cursors, or null at an end. */
export interface Page<T> {
  data: T[];
  next: string | null;
  previous: string | null;
}

/** A cursor that was not made here, or for another list, is `RequestError("invalid_request")` that says what to do. */
export interface PageQuery {
  limit: number;
  cursor?: string;
  order?: "asc" | "desc";
  includeArchived?: boolean;
  created?: { gt?: string; gte?: string; lt?: string; lte?: string };
}

export interface SessionStore {
  /** With its primary thread and, in the same transaction, what is to wait in its inbox. */
  create(row: SessionRow, inbox: readonly SessionEvent[]): Promise<void>;
  /**
   * A session with its past, as it was exported: all of it or nothing. Its events are numbered anew from 1, in their order.
   * Rejects with `RequestError("conflict")` if its id is there already.
   */
  restore(archive: SessionArchive): Promise<void>;
  get(id: string): Promise<SessionRow | undefined>;
  list(
    query: PageQuery & {
      agentId?: string;
      agentVersion?: number;
      statuses?: readonly SessionStatus[];
      /** Only those that wait for somebody. */
      waiting?: true;
    },
  ): Promise<Page<SessionRow>>;
  threads(session: SessionId): Promise<ThreadRow[]>;
  /** The session and all that is its own: log, inbox, threads, transcripts, files. Gone for good. */
  delete(lease: Lease): Promise<void>;
  /** Usage of all sessions, by day (UTC) and agent, of sessions updated in that span. */
  usage(span: { from: string; to: string }): Promise<{ day: string; agentId: string; usd: number; sessions: number }[]>;
}

/** Everything of a session but its uploaded files. */
export interface SessionArchive {
  session: SessionRow;
  /** With the primary one. */
  threads: readonly ThreadRow[];
  events: readonly LoggedEvent[];
  inbox: readonly SessionEvent[];
  transcripts: readonly { subpath: string; lines: readonly TranscriptLine[] }[];
}

export interface AgentStore {
  create(agent: Agent): Promise<void>;
  /** The newest version, or the one asked for. */
  get(id: string, version?: number): Promise<Agent | undefined>;
  /** Adds a version. Rejects with `RequestError("conflict")` if `agent.version` is not one more than the newest. */
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
  /** Rejects with `RequestError("conflict")` while sessions that are not archived use it. */
  delete(id: EnvironmentId): Promise<void>;
  list(query: PageQuery): Promise<Page<Environment>>;
}

/** Uploaded files; the content is kept beside the rows, in the database. */
export interface FileStore {
  create(file: FileMetadata, content: Uint8Array): Promise<void>;
  get(id: string): Promise<FileMetadata | undefined>;
  content(id: FileId): Promise<Uint8Array | undefined>;
  delete(id: FileId): Promise<boolean>;
  list(query: PageQuery & { ids?: readonly string[]; scope?: string }): Promise<Page<FileMetadata>>;
}

/** Claude Code's own transcripts, line by line, so that a conversation goes on in another process, home or machine. */
export interface Transcripts {
  /** In order; a line whose `uuid` is there already is passed over. Fenced like the log. */
  append(lease: Lease, subpath: string, lines: readonly TranscriptLine[]): Promise<void>;
  load(session: SessionId, subpath: string): Promise<TranscriptLine[]>;
  subpaths(session: SessionId): Promise<string[]>;
  /** Puts `lines` in the place of all that is there: for what was imported or rewound. */
  replace(lease: Lease, subpath: string, lines: readonly TranscriptLine[]): Promise<void>;
}

/** One line of a transcript as Claude Code wrote it. */
export type TranscriptLine = Record<string, unknown> & { uuid?: string };

export const SCOPES = ["read", "run", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export interface TokenRow {
  id: TokenId;
  name: string;
  /** Whom it belongs to. */
  tenant: string;
  /** Of the secret; the secret itself is not kept. */
  sha256: string;
  scopes: readonly Scope[];
  createdAt: string;
  lastUsedAt: string | null;
}

export interface TokenStore {
  create(token: TokenRow): Promise<void>;
  findByHash(sha256: string): Promise<TokenRow | undefined>;
  /** All, or those of a tenant. */
  list(tenant?: string): Promise<TokenRow[]>;
  delete(id: TokenId): Promise<boolean>;
  touch(id: TokenId, at: string): Promise<void>;
}
