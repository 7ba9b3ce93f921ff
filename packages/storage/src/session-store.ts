import type { SessionEvent, SessionStatus } from "@tandem/protocol";
import type { Broadcast } from "./broadcast.ts";
import type { Database } from "./database.ts";
import { insertEvents } from "./event-log.ts";
import { toEventRow, type EventRow } from "./event-row.ts";
import { fence } from "./fence.ts";
import { inboxRows, toEntry } from "./inbox.ts";
import { operation } from "./operation.ts";
import { pageArgs, readPage, toPage, within, type PageArgs } from "./page.ts";
import { decodeSession, decodeThread, insertSession, type StoredSession, type StoredThread } from "./session-rows.ts";
import { all, insert, insertAll, list as inList, one, sql, type Work } from "./sql.ts";
import type { Lease, PageQuery, SessionRow, SessionStore, ThreadRow } from "./store.ts";
import { toMs } from "./time.ts";
import { transcriptRows, type TranscriptRow } from "./transcripts.ts";

interface CreateArgs {
  row: SessionRow;
  threads: readonly ThreadRow[];
  events: readonly EventRow[];
  inbox: ReturnType<typeof toEntry>[];
  transcripts: TranscriptRow[];
}

/** A new session, or one with a past. */
const create = operation("sessions.create", function* (args: CreateArgs): Work<void> {
  const { row, threads, events, inbox, transcripts } = args;
  yield* insertSession(row, threads);
  const log = yield* one(
    sql<{ number: number; now: number }>`${insert("log", [
      { session: row.id, seq: events.length, inbox_seq: inbox.length, lease_token: 0 },
    ])} returning number, now_ms() as now`,
  );
  yield* insertEvents(log!.number, 1, events);
  yield* insertAll("inbox", inboxRows(row.id, 1, inbox, log!.now));
  yield* insertAll(
    "transcript",
    transcripts.map((line) => ({ log: log!.number, ...line })),
  );
});

const SELECT = sql<StoredSession>`
  session.id, session.status, session.environment_id, session.created_at, session.updated_at, session.archived_at,
  session.state, agent_snapshot.body as agent
  from session join agent_snapshot on agent_snapshot.session = session.id and agent_snapshot.thread = ''`;

const get = operation("sessions.get", function* (id: string): Work<StoredSession | undefined> {
  return yield* one(sql<StoredSession>`select ${SELECT} where session.id = ${id}`);
});

type Filter = Omit<PageQuery, "limit" | "cursor" | "order"> & {
  agentId?: string;
  agentVersion?: number;
  statuses?: readonly SessionStatus[];
};

const list = operation("sessions.list", function* ({ page, filter }: { page: PageArgs; filter: Filter }) {
  const { agentId, agentVersion, statuses, includeArchived, created } = filter;
  return yield* readPage<StoredSession>(page, {
    select: SELECT,
    at: "session.created_at",
    id: "session.id",
    conditions: [
      ...(includeArchived ? [] : [sql`session.archived_at is null`]),
      ...(agentId === undefined ? [] : [sql`session.agent_id = ${agentId}`]),
      ...(agentVersion === undefined ? [] : [sql`session.agent_version = ${agentVersion}`]),
      ...(statuses === undefined ? [] : [sql`session.status in ${inList(statuses)}`]),
      ...within("session.created_at", created),
    ],
  });
});

const threads = operation("sessions.threads", function* (session: string): Work<StoredThread[]> {
  return yield* all(sql<StoredThread>`
    select thread.*, agent_snapshot.body as agent
    from thread join agent_snapshot on agent_snapshot.session = thread.session and agent_snapshot.thread = thread.id
    where thread.session = ${session} order by thread.created_at, thread.id`);
});

const remove = operation("sessions.delete", function* (lease: Lease): Work<void> {
  const { session } = lease;
  const { number } = yield* fence(lease);
  yield sql`delete from event where log = ${number}`;
  yield sql`delete from transcript where log = ${number}`;
  yield sql`delete from inbox where session = ${session}`;
  yield sql`delete from thread where session = ${session}`;
  yield sql`delete from agent_snapshot where session = ${session}`;
  yield sql`delete from file_part where file in (select id from file where scope = ${session})`;
  yield sql`delete from file where scope = ${session}`;
  yield sql`delete from session where id = ${session}`;
  yield sql`delete from log where number = ${number}`;
});

const DAY_MS = 86_400_000;

const usage = operation("sessions.usage", function* (span: { from: number; to: number }) {
  return yield* all(sql<{ day: number; agent_id: string; cents: number; sessions: number }>`
    select updated_at / ${DAY_MS} as day, agent_id, cast(sum(cents) as bigint) as cents, count(*) as sessions
    from session where updated_at >= ${span.from} and updated_at < ${span.to}
    group by 1, 2 order by 1, 2`);
});

/** Every session has one; the engine may go on from there. */
function primaryThread({ agent: { multiagent: _, ...agent }, ...row }: SessionRow): ThreadRow {
  return {
    id: row.primaryThread,
    session: row.id,
    parent: null,
    agent,
    status: row.status,
    usage: row.usage,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    archivedAt: row.archivedAt,
  };
}

export function createSessionStore(database: Database, broadcast: Broadcast): SessionStore {
  const add = async (args: Omit<CreateArgs, "inbox">, inbox: readonly SessionEvent[]): Promise<void> => {
    await database.write(create, { ...args, inbox: inbox.map(toEntry) }, args.row.id);
    if (inbox.length > 0) broadcast.put(args.row.id, inbox.length);
  };
  return {
    create: (row, inbox) => add({ row, threads: [primaryThread(row)], events: [], transcripts: [] }, inbox),
    restore: ({ session, threads, events, inbox, transcripts }) => {
      const rows = events.map(({ thread, event }) => toEventRow(thread, event));
      const lines = transcripts.flatMap(({ subpath, lines }) => transcriptRows(subpath, 1, lines));
      return add({ row: session, threads, events: rows, transcripts: lines }, inbox);
    },
    get: async (id) => {
      const row = await database.read(get, id);
      return row && decodeSession(row);
    },
    list: async ({ limit, cursor, order, ...filter }) => {
      const page = pageArgs("sessions", { limit, cursor, order });
      return toPage("sessions", page, await database.read(list, { page, filter }), decodeSession);
    },
    threads: async (session) => (await database.read(threads, session)).map(decodeThread),
    delete: async (lease) => {
      await database.write(remove, lease, lease.session);
      broadcast.gone(lease.session);
    },
    usage: async ({ from, to }) => {
      const rows = await database.read(usage, { from: toMs(from), to: toMs(to) });
      return rows.map(({ day, agent_id, cents, sessions }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        agentId: agent_id,
        usd: cents / 100,
        sessions,
      }));
    },
  };
}
