import type { JobState } from "../job-store.ts";
import { operation } from "../operation.ts";
import { refuse } from "../refusal.ts";
import { all, assign, insert, list, one, sql, type Sql, type Value, type Work } from "../sql-statement.ts";
import { EVENTS_AT_ONCE, insertEvents, readEvents, type EventPage } from "./events.ts";
import { fence, type LogLease } from "./fence.ts";
import { holderName } from "../local-process.ts";
import { releaseLease, takeLease } from "./leases.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";

// A job's log and lease use the same tables as a session's, under the job's id. All changes except a cancel request
// first lock the row of its log, so they are serialised.

export interface StoredJob {
  id: string;
  space: string;
  kind: string;
  state: string;
  cancel_requested: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  /** The following columns are JSON, or null. */
  params: string | null;
  progress: string | null;
  result: string | null;
  error: string | null;
  /** Read-only: the state with `interrupted` for a running job without a valid lease. */
  shown?: string;
}

const isUnheld: Sql = sql`(lease_holder is null or lease_until < now_ms())`;
/** A crashed worker cannot store `interrupted`, so reads derive it from the lease. */
const shownState: Sql = sql`case when state = 'running' and ${isUnheld} then 'interrupted' else state end`;
const jobAndLog: Sql<StoredJob> = sql`job.*, ${shownState} as shown from job join log on log.session = job.id`;

export const isUnfinished: Sql = sql`state in ('queued', 'running')`;
const isEnded = (state: string): boolean => state !== "queued" && state !== "running";

export const createJob = operation("jobs.create", function* (row: StoredJob): Work<void> {
  yield insert("log", [{ session: row.id, seq: 0, inbox_seq: 0, lease_token: 0 }]);
  yield insert("job", [{ ...row }]);
});

export const getJob = operation("jobs.get", function* (id: string): Work<StoredJob | undefined> {
  return yield* one(sql<StoredJob>`select ${jobAndLog} where id = ${id}`);
});

export interface JobFilter {
  space?: string;
  kind?: string;
  states?: readonly JobState[];
  created?: Span;
}

export const listJobs = operation("jobs.list", function* (args: { page: PageArgs; filter: JobFilter }) {
  const { space, kind, states, created } = args.filter;
  return yield* readPage<StoredJob>(args.page, {
    select: jobAndLog,
    at: "created_at",
    id: "id",
    conditions: [
      ...(space === undefined ? [] : [sql`space = ${space}`]),
      ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
      ...(states === undefined ? [] : [sql`${shownState} in ${list(states)}`]),
      ...within("created_at", created),
    ],
  });
});

function* stateOf(id: string): Work<string | undefined> {
  return (yield* one(sql<{ state: string }>`select state from job where id = ${id}`))?.state;
}

/**
 * Returns the lease token; undefined if another worker holds the lease, the job has ended or, with `alone`, a worker
 * holds another job of its kind.
 */
export const takeJob = operation(
  "jobs.take",
  function* (args: { session: string; holder: string; ttlMs: number; alone: boolean }): Work<number | undefined> {
    const state = yield* stateOf(args.session);
    if (state === undefined) throw refuse("not_found", `There is no job ${args.session}.`);
    if (isEnded(state) || (args.alone && !(yield* lockKind(args.session)))) return undefined;
    const token = (yield* takeLease.work(args))?.token;
    // The job may have ended while this transaction waited for the row lock.
    if (token === undefined || !isEnded((yield* stateOf(args.session)) ?? "")) return token;
    yield* releaseLease.work({ session: args.session, token });
    return undefined;
  },
);

/**
 * Locks the logs of all unfinished jobs of this job's kind, so that two workers cannot take two of them at once. The
 * logs are locked in the global order of all writers, to avoid deadlocks. False if a worker holds another of these jobs.
 */
function* lockKind(id: string): Work<boolean> {
  const same = sql`space = (select space from job where id = ${id}) and kind = (select kind from job where id = ${id})`;
  const rows = yield* all(sql<{ id: string }>`select id from job where ${same} and ${isUnfinished}`);
  for (const each of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    yield sql`update log set lease_token = lease_token where session = ${each.id}`;
  }
  // Read in a new statement: on Postgres, only that sees leases that were committed while this one waited for a lock.
  const held = yield* one(sql`
    select 1 from job join log on log.session = job.id
    where ${same} and job.id <> ${id} and ${isUnfinished} and not ${isUnheld} limit 1`);
  return held === undefined;
}

export const waitingJobs = operation("jobs.waiting", function* (space: string | undefined): Work<StoredJob[]> {
  const inSpace = space === undefined ? sql`` : sql`and space = ${space}`;
  return yield* all(sql<StoredJob>`
    select ${jobAndLog}
    where ${isUnfinished} ${inSpace} and ${isUnheld}
    order by job.created_at, job.id`);
});

/** Finds one job of the space whose lease is valid. */
export const findHeldJob = operation("jobs.held", function* (space: string) {
  return yield* one(sql<{ id: string; holder: string }>`
    select job.id, lease_holder as holder from job join log on log.session = job.id
    where space = ${space} and lease_holder is not null and lease_until >= now_ms() limit 1`);
});

/** Finds the unfinished job of a kind whose lease is valid. */
export const findHeldOfKind = operation("jobs.heldOfKind", function* (args: { space: string; kind: string }) {
  return yield* one(sql<{ id: string; holder: string; until: number }>`
    select job.id, lease_holder as holder, lease_until as until from job join log on log.session = job.id
    where space = ${args.space} and kind = ${args.kind} and ${isUnfinished} and not ${isUnheld} limit 1`);
});

export interface JobEventRow {
  type: string;
  at: number;
  body: string;
}

/** Returns the first sequence number. */
export const writeJob = operation(
  "jobs.write",
  function* (args: { lease: LogLease; rows: JobEventRow[]; change: Record<string, Value> }): Work<number> {
    const { lease, rows, change } = args;
    const log = yield* fence(lease, rows.length);
    const state = yield* stateOf(lease.session);
    // Followers of an ended job have stopped reading; they would miss new events.
    if (state === undefined || isEnded(state)) {
      throw refuse("conflict", `The job ${lease.session} has ended.`, "Start another one.");
    }
    const first = log.seq - rows.length + 1;
    const events = rows.map((row, index) => ({ ...row, id: String(first + index), thread: null, shown: 1 }));
    yield* insertEvents(log.number, first, events);
    if (Object.keys(change).length > 0) yield sql`update job set ${assign(change)} where id = ${lease.session}`;
    return first;
  },
);

/** Events after `after`, and whether the log is complete; undefined if the job does not exist (any more). */
export const readJobAfter = operation("jobs.readOn", function* (args: { session: string; after: number }): Work<
  (EventPage & { ended: boolean }) | undefined
> {
  // Read the state before the events: an ended job's log is complete, so `ended` cannot come too early.
  const state = yield* stateOf(args.session);
  if (state === undefined) return undefined;
  const part = yield* readEvents.work({ ...args, limit: EVENTS_AT_ONCE });
  return { ...part, ended: isEnded(state) };
});

export const requestJobCancel = operation("jobs.cancel", function* (id: string): Work<boolean> {
  const row = yield* one(sql`update job set cancel_requested = 1 where id = ${id} and ${isUnfinished} returning id`);
  return row !== undefined;
});

export const deleteJob = operation("jobs.delete", function* (id: string): Work<boolean> {
  if ((yield* stateOf(id)) === undefined) return false;
  const log = yield* one(sql<{ number: number; holder: string | null; left: number | null }>`
    update log set lease_token = lease_token + 1 where session = ${id}
    returning number, lease_holder as holder, lease_until - now_ms() as left`);
  if (!log) return false;
  if (log.holder !== null && log.left! >= 0) {
    throw refuse(
      "conflict",
      `${holderName(log.holder)} is working on the job ${id}.`,
      "Cancel it, and delete it once it has ended.",
    );
  }
  yield sql`delete from event where log = ${log.number}`;
  yield sql`delete from job where id = ${id}`;
  yield sql`delete from log where number = ${log.number}`;
  return true;
});
