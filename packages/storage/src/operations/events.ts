import { operation } from "../operation.ts";
import { all, insert, list, one, sql, type Sql, type Work } from "../sql-statement.ts";
import type { EventRange } from "../store.ts";
import { hasMore, selectWithin, type Span, within } from "./read-page.ts";
import { fence } from "./fence.ts";
import { announce } from "./announcements.ts";
import { appendInOneStatement } from "./append-in-one-statement.ts";
import { PREPARED_ROWS, type AppendArgs, type EventRow, type LoggedRow } from "./event-rows.ts";
import { takeInput } from "./input-queue.ts";
import { changeSession, saveThreads } from "./session-rows.ts";

/** One page; larger reads take several queries, so that the event loop is not blocked. */
export const EVENTS_AT_ONCE = 256;
/** Rows may be parsed on the caller's thread; this limit takes about 5 ms. */
const BYTES_AT_ONCE = 1_000_000;
const ROWS_PER_INSERT = 64;

/** Returns the first sequence number. */
export const appendEvents = operation("events.append", append, { single: appendInOneStatement });

function* append({ lease, rows, taken, threads, change, announce: announced }: AppendArgs): Work<number> {
  const log = yield* fence(lease, rows.length);
  const first = log.seq - rows.length + 1;
  yield* insertEvents(log.number, first, rows);
  if (taken.length > 0) yield* takeInput(lease.session, taken);
  yield* saveThreads(threads);
  if (change) yield* changeSession(lease.session, change);
  yield* announce(announced);
  return first;
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
  const rows = yield* all(
    selectWithin<LoggedRow>(BYTES_AT_ONCE, {
      columns: "seq, id, thread, type, at, shown, body",
      table: "event",
      key: "seq",
      size: "body",
      conditions: conditions(args),
      order: args.order ?? "asc",
      limit,
    }),
  );
  return { rows, more: hasMore(rows, limit) };
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
    select seq, id, thread, type, at, shown, body from event
    where log = (select number from log where session = ${args.session}) and id in ${list(args.ids)} order by seq`);
});

export const readHead = operation("events.head", function* (session: string): Work<number | undefined> {
  const row = yield* one({ ...sql<{ seq: number }>`select seq from log where session = ${session}`, name: "head" });
  return row?.seq;
});
