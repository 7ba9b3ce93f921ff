import { createAgentStore } from "./stores/agent-store.ts";
import { createAuditLog } from "./stores/audit-log.ts";
import { createBlobs } from "./stores/blobs.ts";
import { Broadcast } from "./live/broadcast.ts";
import type { Database } from "./database.ts";
import { deleteSpace } from "./stores/delete-space.ts";
import { createEnvironmentStore } from "./stores/environment-store.ts";
import { createEventLog } from "./stores/event-log.ts";
import { createFileStore } from "./stores/file-store.ts";
import { createInbox } from "./stores/inbox.ts";
import { createJobStore } from "./stores/job-store.ts";
import { createLeases } from "./stores/leases.ts";
import { parseLocation } from "./location.ts";
import { createRecords } from "./stores/records.ts";
import { readSchema } from "./operations/migrations.ts";
import { createSearchIndex } from "./stores/search-index.ts";
import { createSessionStore } from "./stores/session-store.ts";
import { createSpending } from "./stores/spending.ts";
import type { Store } from "./store.ts";
import { createTokenStore } from "./stores/token-store.ts";
import { createTranscripts } from "./stores/transcripts.ts";

/**
 * Opens a database, and brings its schema up to date. `location` is `postgres://…` or a SQLite file, which is made if it
 * is not there, for its owner alone. `meanwhile` is called when there is nothing left but to wait for the database.
 */
export async function openStore(location: string, meanwhile?: () => void): Promise<Store> {
  const database = await openDatabase(location, meanwhile);
  const broadcast = new Broadcast(database);
  const blobs = createBlobs(database);
  const jobs = createJobStore(database, broadcast);
  const search = createSearchIndex(database);
  return {
    events: createEventLog(database, broadcast),
    inbox: createInbox(database, broadcast),
    leases: createLeases(database),
    sessions: createSessionStore(database, broadcast),
    agents: createAgentStore(database),
    environments: createEnvironmentStore(database),
    files: createFileStore(database),
    transcripts: createTranscripts(database),
    tokens: createTokenStore(database),
    audit: createAuditLog(database),
    records: createRecords(database),
    blobs,
    jobs,
    search,
    spending: createSpending(database),
    deleteSpace: (space) => deleteSpace(database, { blobs, jobs, search }, space),
    check: async () => void (await database.read(readSchema, undefined)),
    describe: async () => ({
      engine: database.engine,
      place: database.place,
      schema: await database.read(readSchema, undefined),
      bytes: await database.bytes(),
    }),
    [Symbol.asyncDispose]: async () => {
      broadcast.close();
      await search[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Each engine is loaded only where it is used. */
async function openDatabase(location: string, meanwhile: () => void = () => {}): Promise<Database> {
  const parsed = parseLocation(location);
  if (parsed.engine === "postgres") {
    const { PostgresDatabase } = await import("./postgres/postgres-database.ts");
    const opening = PostgresDatabase.open(parsed.url);
    meanwhile();
    return opening;
  }
  const { SqliteDatabase } = await import("./sqlite/sqlite-database.ts");
  return SqliteDatabase.open(parsed.file, meanwhile);
}
