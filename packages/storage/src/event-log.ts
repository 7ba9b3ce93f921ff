import { RequestError, type LoggedEvent, type SessionId } from "@tandem/protocol";
import type { Broadcast } from "./broadcast.ts";
import type { Database } from "./database.ts";
import { asLogged, toEventRow, toLoggedEvent, type EventRow, type LoggedRow } from "./event-row.ts";
import { fence } from "./fence.ts";
import { takeFromInbox } from "./inbox.ts";
import { operation } from "./operation.ts";
import { changeSession, encodeChange, saveThreads, type ChangeRow } from "./session-rows.ts";
import { all, insert, list, one, raw, sql, where, type Sql, type Work } from "./sql.ts";
import type { EventLog, EventRange, Lease, ThreadRow } from "./store.ts";
import { within } from "./page.ts";

/** Enough for a page that a person reads; more is read in several goes, so that nobody's event loop stands still. */
const ROWS_AT_ONCE = 256;
/** Rows are parsed on the caller's thread: about five milliseconds of it. */
const BYTES_AT_ONCE = 1_000_000;
/** Statements for up to this many rows are prepared once; a turn's batches are rarely larger. */
const PREPARED_ROWS = 16;
const ROWS_PER_INSERT = 64;

interface AppendArgs {
  lease: Lease;
  rows: EventRow[];
  taken: readonly string[];
  threads: readonly ThreadRow[];
  change: ChangeRow | undefined;
}

const append = operation(
  "events.append",
  function* ({ lease, rows, taken, threads, change }: AppendArgs): Work<number> {
    const log = yield* fence(lease, rows.length);
    const first = log.seq - rows.length + 1;
    yield* insertEvents(log.number, first, rows);
    if (taken.length > 0) yield* takeFromInbox(lease.session, taken);
    if (threads.length > 0) yield* saveThreads(threads);
    if (change) yield* changeSession(lease.session, change);
    return first;
  },
);

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

interface Part {
  rows: LoggedRow[];
  more: boolean;
}

const readPart = operation("events.read", function* (args: EventRange & { session: string }): Work<Part> {
  const limit = Math.min(args.limit, ROWS_AT_ONCE);
  const rows = yield* all(sql<LoggedRow>`
    select seq, id, thread, type, at, body from event
    ${where(conditions(args))}
    order by seq ${raw(args.order === "desc" ? "desc" : "asc")} limit ${limit}`);
  const some = upTo(BYTES_AT_ONCE, rows);
  return { rows: some, more: some.length === limit || some.length < rows.length };
});

function conditions({ session, after, before, types, thread, since }: EventRange & { session: string }): Sql[] {
  return [
    sql`log = (select number from log where session = ${session})`,
    ...(after === undefined ? [] : [sql`seq > ${after}`]),
    ...(before === undefined ? [] : [sql`seq < ${before}`]),
    ...(types === undefined ? [] : [sql`type in ${list(types)}`]),
    ...(thread === undefined ? [] : thread === null ? [sql`shown = 1`] : [sql`thread = ${thread}`]),
    ...within("at", since),
  ];
}

/** The first rows that are together no longer than that, but at least one. */
function upTo(bytes: number, rows: LoggedRow[]): LoggedRow[] {
  let sum = 0;
  const end = rows.findIndex(({ body }, index) => (sum += body.length) > bytes && index > 0);
  return end === -1 ? rows : rows.slice(0, end);
}

const find = operation("events.find", function* (args: { session: string; ids: readonly string[] }): Work<LoggedRow[]> {
  return yield* all(sql<LoggedRow>`
    select seq, id, thread, type, at, body from event
    where log = (select number from log where session = ${args.session}) and id in ${list(args.ids)} order by seq`);
});

const head = operation("events.head", function* (session: string): Work<number | undefined> {
  const row = yield* one({
    ...sql<{ seq: number }>`select seq from log where session = ${session}`,
    name: "head",
  });
  return row?.seq;
});

/** What comes after `after`; undefined if there is no such session (any more). */
const readOn = operation("events.readOn", function* (args: { session: string; after: number }): Work<Part | undefined> {
  const seq = yield* head.work(args.session);
  return seq === undefined ? undefined : yield* readPart.work({ ...args, limit: ROWS_AT_ONCE });
});

export function createEventLog(database: Database, broadcast: Broadcast): EventLog {
  const read: EventLog["read"] = async (session, range) => {
    const events: LoggedEvent[] = [];
    let rest = range;
    while (rest.limit > 0) {
      const { rows, more } = await database.read(readPart, { ...rest, session });
      for (const row of rows) events.push(toLoggedEvent(row));
      const last = rows.at(-1)?.seq;
      if (!more || last === undefined) break;
      const bound = range.order === "desc" ? { before: last } : { after: last };
      rest = { ...range, ...bound, limit: range.limit - events.length };
    }
    return events;
  };

  /** The events of an append that has already been done, by a caller who did not hear of it and tries again. */
  const repeated = async (session: SessionId, ids: readonly string[]): Promise<LoggedEvent[] | undefined> => {
    const rows = await database.read(find, { session, ids });
    const isSame = rows.length === ids.length && rows.every(({ id }, index) => id === ids[index]);
    return isSame ? rows.map(toLoggedEvent) : undefined;
  };

  const appendOnce: EventLog["append"] = async (lease, entries, with_ = {}) => {
    const rows = entries.map(({ thread, event }) => toEventRow(thread, event));
    const args = {
      lease,
      rows,
      taken: with_.taken ?? [],
      threads: with_.threads ?? [],
      change: with_.session && encodeChange(with_.session),
    };
    const first = await database.write(append, args, lease.session);
    const events = entries.map(({ thread, event }, index) => asLogged(first + index, thread, event, rows[index]!.at));
    if (events.length > 0) broadcast.appended(lease.session, events);
    return events;
  };

  return {
    read,
    append: async (lease, entries, with_) => {
      try {
        return await appendOnce(lease, entries, with_);
      } catch (error) {
        if (!(error instanceof RequestError && error.code === "conflict")) throw error;
        const ids = entries.map(({ event }) => event.id);
        const events = await repeated(lease.session, ids);
        if (!events) throw error;
        return events;
      }
    },
    find: async (session, id) => {
      const [row] = await database.read(find, { session, ids: [id] });
      return row && toLoggedEvent(row);
    },
    head: async (session) => (await database.read(head, session)) ?? 0,
    follow: (session, after, signal) =>
      broadcast.follow(session, after, signal, async (from) => {
        const part = await database.read(readOn, { session, after: from });
        return part && { events: part.rows.map(toLoggedEvent), more: part.more };
      }),
    onAppend: (listener) => broadcast.onAppend(listener),
  };
}
