import { operation } from "../operation.ts";
import { Refusal } from "../refusal.ts";
import { all, insert, join, list, one, raw, sql, type Sql, where, type Work } from "../sql-statement.ts";
import type { EventRange } from "../store.ts";
import type { Lease } from "../lease.ts";
import { countWithin, type Span, within } from "./read-page.ts";
import { fence } from "./fence.ts";
import { announce, type AnnouncementRow } from "./announcements.ts";
import { takeFromInbox } from "./inbox.ts";
import { type ChangeRow, changeSession, saveThreads, type ThreadInput } from "./session-rows.ts";

/** One page; larger reads take several queries, so that the event loop is not blocked. */
export const EVENTS_AT_ONCE = 256;
/** Rows are parsed on the caller's thread; this limit takes about 5 ms. */
const BYTES_AT_ONCE = 1_000_000;
/** Inserts of up to this many rows use prepared statements; a turn's batches are rarely larger. */
const PREPARED_ROWS = 16;
const ROWS_PER_INSERT = 64;

/** An event as stored: `body` holds the fields that have no column. */
export interface EventRow {
  id: string;
  thread: string | null;
  type: string;
  at: number | null;
  /** 1 if it is shown on the primary thread. */
  shown: number;
  body: string;
}

export type LoggedRow = Omit<EventRow, "shown"> & { seq: number };

export interface AppendArgs {
  lease: Lease;
  rows: EventRow[];
  taken: readonly string[];
  threads: readonly ThreadInput[];
  change: ChangeRow | undefined;
  announce: readonly AnnouncementRow[];
}

/** Returns the first sequence number. */
export const appendEvents = operation("events.append", append, { single: appendInOneStatement });

function* append({ lease, rows, taken, threads, change, announce: announced }: AppendArgs): Work<number> {
  const log = yield* fence(lease, rows.length);
  const first = log.seq - rows.length + 1;
  yield* insertEvents(log.number, first, rows);
  if (taken.length > 0) yield* takeFromInbox(lease.session, taken);
  yield* saveThreads(threads);
  if (change) yield* changeSession(lease.session, change);
  yield* announce(announced);
  return first;
}

/** Most appends are only a few events. Fencing and inserting in one statement saves a round trip. */
function appendInOneStatement({ lease, rows, taken, threads, change, announce }: AppendArgs): Work<number> | undefined {
  const isPlain = taken.length === 0 && threads.length === 0 && !change && announce.length === 0;
  return isPlain && rows.length > 0 && rows.length <= PREPARED_ROWS ? fenceAndInsert(lease, rows) : undefined;
}

function* fenceAndInsert({ session, token }: Lease, rows: readonly EventRow[]): Work<number> {
  const values = rows.map(({ id, thread, type, at, shown, body }, index) =>
    index === 0
      ? sql`(0, ${id}, ${thread}, ${type}, cast(${at} as bigint), cast(${shown} as bigint), ${body})`
      : sql`(${raw(String(index))}, ${id}, ${thread}, ${type}, ${at}, ${shown}, ${body})`,
  );
  const statement = sql<{ first: number }>`
    with fence as (
      update log set seq = seq + ${raw(String(rows.length))}
      where session = ${session} and lease_token = ${token} and lease_holder is not null
      returning number, seq - ${raw(String(rows.length - 1))} as first
    ), stored as (
      insert into event (log, seq, id, thread, type, at, shown, body)
      select fence.number, fence.first + fresh.position, id, thread, type, at, shown, body
      from fence, (values ${join(values, ", ")}) as fresh (position, id, thread, type, at, shown, body)
    )
    select first from fence`;
  const row = yield* one({ ...statement, name: `append_${rows.length}` });
  if (!row) throw new Refusal({ type: "lease_lost", session });
  return row.first;
}

export function* insertEvents(log: number, first: number, rows: readonly EventRow[]): Work<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const some = rows.slice(from, from + ROWS_PER_INSERT).map((row, index) => ({
      log,
      seq: first + from + index,
      id: row.id,
      thread: row.thread,
      type: row.type,
      at: row.at,
      shown: row.shown,
      body: row.body,
    }));
    yield insert("event", some, some.length <= PREPARED_ROWS ? `event_${some.length}` : undefined);
  }
}

const ofSession = (session: string): Sql => sql`log = (select number from log where session = ${session})`;

/** For SQLite, whose pages have no checksums. Reads every body; `json_valid` fails on overwritten ones. */
export const findInvalidBody = operation("events.invalid", function* (session: string): Work<
  { seq: number } | undefined
> {
  return yield* one(sql<{ seq: number }>`
    select seq from event where ${ofSession(session)} and not json_valid(body) limit 1`);
});

/** Reads every body in the database, and fails if one cannot be. */
export const readBodies = operation("events.bodies", function* (session: string): Work<void> {
  yield sql`select sum(length(body)) from event where ${ofSession(session)}`;
});

export type ReadArgs = Omit<EventRange, "since"> & { session: string; since?: Span };

export interface EventPage {
  rows: LoggedRow[];
  more: boolean;
}

/** Reads the first part of the requested range; `more` says whether to continue. */
export const readEvents = operation("events.read", function* (args: ReadArgs): Work<EventPage> {
  const limit = Math.min(args.limit, EVENTS_AT_ONCE);
  const wanted = where(conditions(args));
  const order = raw(args.order === "desc" ? "desc" : "asc");
  // Sizes are read first, so that rows over the byte limit are never fetched. Neither engine reads the body for its
  // length.
  const sizes = yield* all(sql<{ bytes: number }>`
    select octet_length(body) as bytes from event ${wanted} order by seq ${order} limit ${limit}`);
  const count = countWithin(BYTES_AT_ONCE, sizes);
  if (count === 0) return { rows: [], more: false };
  const rows = yield* all(sql<LoggedRow>`
    select seq, id, thread, type, at, body from event ${wanted} order by seq ${order} limit ${count}`);
  return { rows, more: count === limit || count < sizes.length };
});

function conditions({ session, after, before, types, thread, since }: ReadArgs): Sql[] {
  return [
    sql`log = (select number from log where session = ${session})`,
    ...(after === undefined ? [] : [sql`seq > ${after}`]),
    ...(before === undefined ? [] : [sql`seq < ${before}`]),
    ...(types === undefined ? [] : [sql`type in ${list(types)}`]),
    ...(thread === undefined ? [] : thread === null ? [sql`shown = 1`] : [sql`thread = ${thread}`]),
    ...within("at", since),
  ];
}

/** Events after `after`; undefined if the session does not exist (any more). */
export const readAfter = operation("events.readOn", function* (args: { session: string; after: number }): Work<
  EventPage | undefined
> {
  const part = yield* readEvents.work({ ...args, limit: EVENTS_AT_ONCE });
  // Only an empty result needs the existence check: without a session there are no events.
  if (part.rows.length === 0 && (yield* readHead.work(args.session)) === undefined) return undefined;
  return part;
});

export const findEvents = operation("events.find", function* (args: { session: string; ids: readonly string[] }): Work<
  LoggedRow[]
> {
  return yield* all(sql<LoggedRow>`
    select seq, id, thread, type, at, body from event
    where log = (select number from log where session = ${args.session}) and id in ${list(args.ids)} order by seq`);
});

export const readHead = operation("events.head", function* (session: string): Work<number | undefined> {
  const row = yield* one({ ...sql<{ seq: number }>`select seq from log where session = ${session}`, name: "head" });
  return row?.seq;
});
