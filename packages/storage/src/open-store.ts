import { createAgentStore } from "./stores/agent-store.ts";
import { AnnouncementPort } from "./stores/announcement-port.ts";
import { createAuditLog } from "./stores/audit-log.ts";
import { createBlobs } from "./stores/blobs.ts";
import { Broadcast } from "./live/broadcast.ts";
import type { Database } from "./database.ts";
import { deleteSpace } from "./stores/delete-space.ts";
import { createEnvironmentStore } from "./stores/environment-store.ts";
import { createEventLog } from "./stores/event-log.ts";
import { createFileStore } from "./stores/file-store.ts";
import { createInputQueue } from "./stores/input-queue.ts";
import { createJobStore } from "./stores/job-store.ts";
import { createLeases } from "./stores/leases.ts";
import { ReadableLogs } from "./stores/readable-logs.ts";
import { createRecords } from "./stores/records.ts";
import { readSchema } from "./operations/schema/migrate.ts";
import { getTenant } from "./operations/tenants.ts";
import { createSearchIndex } from "./stores/search-index.ts";
import { createSessionStore } from "./stores/session-store.ts";
import { createSpending } from "./stores/spending.ts";
import type { Store } from "./store.ts";
import { DEFAULT_TENANT } from "./tenant-store.ts";
import { createTenantStore } from "./stores/tenant-store.ts";
import { createTokenStore } from "./stores/token-store.ts";
import { createTranscripts } from "./stores/transcripts.ts";
import { createWorkerStore } from "./stores/worker-store.ts";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TandemError } from "@tandem/protocol";

interface OpenTenant {
  createdAt: number;
  store: Promise<Store>;
  borrowers: number;
  /** Whether it stays open when the last borrower is done. */
  isKept: boolean;
}

interface StoreOptions {
  /** Postgres without the pooler. The pooler of `location` may then use transaction mode. */
  directUrl?: string | undefined;
  /** Called once the database is being waited for, so that callers can do other startup work. */
  onWait?: (() => void) | undefined;
}

/** Stores shared by all tenants. */
type Shared = Pick<Store, "tokens" | "tenants" | "workers" | "tenant" | "borrowTenant">;

/**
 * Opens a database and migrates its schema. `location` is `postgres://…` or a SQLite file, which is created with
 * owner-only permissions.
 */
export async function openStore(location: string, options: StoreOptions = {}): Promise<Store> {
  const database = await openDatabase(location, options);
  const open = new Map<string, OpenTenant>();
  const close = async (id: string): Promise<void> => {
    const theirs = await open.get(id)?.store.catch(() => undefined);
    await theirs?.[Symbol.asyncDispose]();
  };
  const opened = async (id: string): Promise<OpenTenant> => {
    const row = await database.read(getTenant, id);
    // Another process deleted this tenant, and may have created a new one with the same id.
    const stale = open.get(id);
    if (stale && stale.createdAt !== row?.created_at) await close(id);
    const found = open.get(id);
    if (found) return found;
    const made: OpenTenant = {
      createdAt: row?.created_at ?? 0,
      store: database.tenant(id).then((theirs) => createStore(theirs, shared, () => forget())),
      borrowers: 0,
      isKept: false,
    };
    const forget = (): void => void (open.get(id) === made && open.delete(id));
    open.set(id, made);
    made.store.catch(forget);
    return made;
  };
  const tenant = async (id: string): Promise<Store> => {
    if (id === DEFAULT_TENANT) return store;
    const theirs = await opened(id);
    theirs.isKept = true;
    return theirs.store;
  };
  const borrowTenant = async <T>(id: string, look: (store: Store) => Promise<T>): Promise<T> => {
    if (id === DEFAULT_TENANT) return look(store);
    const theirs = await opened(id);
    theirs.borrowers += 1;
    try {
      return await look(await theirs.store);
    } finally {
      theirs.borrowers -= 1;
      if (theirs.borrowers === 0 && !theirs.isKept) await (await theirs.store)[Symbol.asyncDispose]();
    }
  };
  const shared: Shared = {
    tokens: createTokenStore(database),
    tenants: createTenantStore(database, { open: tenant, close }),
    workers: createWorkerStore(database),
    tenant,
    borrowTenant,
  };
  const store = createStore(database, shared, () => Promise.all([...open.keys()].map(close)));
  return store;
}

/** `beforeClose` is called once. */
function createStore(database: Database, shared: Shared, beforeClose: () => unknown): Store {
  const broadcast = new Broadcast(database);
  const logs = new ReadableLogs(database);
  const announcements = new AnnouncementPort(database);
  const blobs = createBlobs(database);
  const jobs = createJobStore(database, broadcast);
  const search = createSearchIndex(database);
  const close = async (): Promise<void> => {
    await beforeClose();
    await logs.idle();
    broadcast.close();
    await search[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  };
  let closing: Promise<void> | undefined;
  return {
    ...shared,
    events: createEventLog(database, broadcast, logs, announcements),
    inputQueue: createInputQueue(database, broadcast, logs),
    leases: createLeases(database),
    sessions: createSessionStore(database, broadcast, announcements),
    agents: createAgentStore(database, announcements),
    environments: createEnvironmentStore(database, announcements),
    files: createFileStore(database),
    transcripts: createTranscripts(database),
    audit: createAuditLog(database),
    announcements,
    records: createRecords(database, announcements),
    blobs,
    jobs,
    search,
    spending: createSpending(database),
    deleteSpace: (space) => deleteSpace(database, { blobs, jobs, search }, space),
    check: async () => {
      await database.read(readSchema, undefined);
      await database.checkSpace();
    },
    describe: async () => ({
      engine: database.engine,
      place: database.place,
      schema: await database.read(readSchema, undefined),
      bytes: await database.bytes(),
    }),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

/** Imported on demand, so that only the engine in use is loaded. */
async function openDatabase(location: string, { directUrl, onWait = () => {} }: StoreOptions): Promise<Database> {
  const parsed = parseLocation(location);
  if (parsed.engine === "postgres") {
    const { PostgresDatabase } = await import("./postgres/postgres-database.ts");
    const opening = PostgresDatabase.open(parsed.url, directUrl);
    onWait();
    return opening;
  }
  const { SqliteDatabase } = await import("./sqlite/sqlite-database.ts");
  return SqliteDatabase.open(parsed.file, onWait);
}

type Location = { engine: "postgres"; url: string } | { engine: "sqlite"; file: string };

/** Accepts `postgres://…`, or a file as a path, `file:///…` or `sqlite:path`. */
export function parseLocation(location: string): Location {
  if (/^postgres(ql)?:\/\//i.test(location)) return { engine: "postgres", url: location };
  if (/^file:\/\//i.test(location)) return { engine: "sqlite", file: fileURLToPath(location) };
  const path = location.replace(/^(sqlite|file):/i, "");
  // A single letter before the colon is a Windows drive, not a scheme.
  if (path === "" || path.startsWith(":") || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw new TandemError("bad_location", `"${withoutSecrets(location)}" names no database that Tandem can use.`, {
      fix: "Write a path to a file, or postgres://user:password@host/database.",
    });
  }
  return { engine: "sqlite", file: resolve(path.replace(/^\/\/(?=\/)/, "")) };
}

const withoutSecrets = (location: string): string => location.replace(/\/\/[^/@]*@/, "//…@");
