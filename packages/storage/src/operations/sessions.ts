import type { SessionStatus } from "@tandem/protocol";
import { operation } from "../operation.ts";
import { all, insert, insertAll, list, one, raw, sql, type Work } from "../sql-statement.ts";
import type { Lease } from "../lease.ts";
import { announce, type AnnouncementRow } from "./announcements.ts";
import type { EventRow } from "./event-rows.ts";
import { insertEvents } from "./events.ts";
import { fence } from "./fence.ts";
import { inputRows, type InputEntry } from "./input-queue.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";
import {
  insertSession,
  type SessionColumns,
  type SessionInput,
  type ThreadColumns,
  type ThreadInput,
} from "./session-rows.ts";
import type { TranscriptRow } from "./transcripts.ts";

export interface CreateSessionArgs {
  session: SessionInput;
  threads: readonly ThreadInput[];
  events: readonly EventRow[];
  input: readonly InputEntry[];
  transcripts: readonly TranscriptRow[];
  announce: readonly AnnouncementRow[];
}

/** Creates a new session, or restores an archived one with its events. */
export const createSession = operation("sessions.create", function* (args: CreateSessionArgs): Work<void> {
  const { session, threads, events, input, transcripts } = args;
  const { id } = session.columns;
  yield* insertSession(session, threads);
  const row = { session: id, seq: events.length, inbox_seq: input.length, lease_token: 0 };
  const log = yield* one(
    sql<{ number: number; now: number }>`${insert("log", [row])} returning number, now_ms() as now`,
  );
  yield* insertEvents(log!.number, 1, events);
  // Imported events were audited by the server that ran them.
  if (events.length > 0) yield insert("audit_cursor", [{ session: id, seq: events.length }]);
  yield* insertAll("inbox", inputRows(id, 1, input, log!.now));
  yield* insertAll(
    "transcript",
    transcripts.map((line) => ({ log: log!.number, ...line })),
  );
  yield* announce(args.announce);
});

/** A session as read, joined with its agent. */
export type StoredSession = Omit<SessionColumns, "agent_id" | "agent_version" | "micros" | "waiting"> & {
  agent: string;
};

const SELECT = sql<StoredSession>`
  session.id, session.status, session.environment_id, session.created_at, session.updated_at, session.archived_at,
  session.place, session.deployment_id, session.state, agent_snapshot.body as agent
  from session join agent_snapshot on agent_snapshot.session = session.id and agent_snapshot.thread = ''`;

export const getSession = operation("sessions.get", function* (id: string): Work<StoredSession | undefined> {
  return yield* one(sql<StoredSession>`select ${SELECT} where session.id = ${id}`);
});

/** Must match the partial index's condition literally; otherwise the planner does not use it. */
export const isUnfinished = sql`session.status in ('running', 'rescheduling')`;
const UNFINISHED: ReadonlySet<SessionStatus> = new Set(["running", "rescheduling"]);

export interface SessionFilter {
  agentId?: string;
  agentVersion?: number;
  statuses?: readonly SessionStatus[];
  includeArchived?: boolean;
  waiting?: true;
  memoryStoreId?: string;
  deploymentId?: string;
  created?: Span;
}

export const listSessions = operation("sessions.list", function* (args: { page: PageArgs; filter: SessionFilter }) {
  const { agentId, agentVersion, statuses, includeArchived, waiting, memoryStoreId, deploymentId, created } =
    args.filter;
  return yield* readPage<StoredSession>(args.page, {
    select: SELECT,
    at: "session.created_at",
    id: "session.id",
    conditions: [
      ...(includeArchived ? [] : [sql`session.archived_at is null`]),
      ...(agentId === undefined ? [] : [sql`session.agent_id = ${agentId}`]),
      ...(agentVersion === undefined ? [] : [sql`session.agent_version = ${agentVersion}`]),
      ...(waiting ? [sql`session.waiting > 0`] : []),
      ...(memoryStoreId === undefined
        ? []
        : [sql`session.state like ${`%"memory_store_id":"${memoryStoreId.replaceAll("%", "")}"%`}`]),
      ...(deploymentId === undefined ? [] : [sql`session.deployment_id = ${deploymentId}`]),
      ...(statuses?.every((status) => UNFINISHED.has(status)) ? [isUnfinished] : []),
      ...(statuses === undefined ? [] : [sql`session.status in ${list(statuses)}`]),
      ...within("session.created_at", created),
    ],
  });
});

export type StoredThread = ThreadColumns & { agent: string };

export const listThreads = operation("sessions.threads", function* (session: string): Work<StoredThread[]> {
  return yield* all(sql<StoredThread>`
    select thread.*, agent_snapshot.body as agent
    from thread join agent_snapshot on agent_snapshot.session = thread.session and agent_snapshot.thread = thread.id
    where thread.session = ${session} order by thread.created_at, thread.id`);
});

export const deleteSession = operation(
  "sessions.delete",
  function* (args: { lease: Lease; announce: readonly AnnouncementRow[] }): Work<void> {
    const { lease } = args;
    const { session } = lease;
    const { number } = yield* fence(lease);
    yield sql`delete from event where log = ${number}`;
    yield sql`delete from transcript where log = ${number}`;
    yield sql`delete from inbox where session = ${session}`;
    yield sql`delete from audit_cursor where session = ${session}`;
    yield sql`delete from share where session = ${session}`;
    yield sql`delete from thread where session = ${session}`;
    yield sql`delete from agent_snapshot where session = ${session}`;
    yield sql`delete from file_part where file in (select id from file where scope = ${session})`;
    yield sql`delete from file where scope = ${session}`;
    yield sql`delete from session where id = ${session}`;
    yield sql`delete from log where number = ${number}`;
    yield* announce(args.announce);
  },
);

export const DAY_MS = 86_400_000;

/** The costs by model are part of the state. */
export const listCosts = operation("sessions.costs", function* (span: { from: number; to: number }) {
  return yield* all(sql<{ day: number; state: string }>`
    select updated_at / ${raw(String(DAY_MS))} as day, state
    from session where updated_at >= ${span.from} and updated_at < ${span.to} and micros > 0
    order by 1`);
});

export const sumUsage = operation("sessions.usage", function* (span: { from: number; to: number }) {
  return yield* all(sql<{ day: number; agent_id: string; micros: number; sessions: number }>`
    select updated_at / ${raw(String(DAY_MS))} as day, agent_id, cast(sum(micros) as bigint) as micros,
      count(*) as sessions
    from session where updated_at >= ${span.from} and updated_at < ${span.to}
    group by 1, 2 order by 1, 2`);
});
