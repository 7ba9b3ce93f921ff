import { operation } from "../operation.ts";
import { noSuchSession, refuse } from "../refusal.ts";
import { all, insertAll, join, list, one, raw, sql, type Value, type Work } from "../sql-statement.ts";

export interface InputEntry {
  id: string;
  body: string;
}

export const inputRows = (
  session: string,
  first: number,
  entries: readonly InputEntry[],
  now: number,
): Record<string, Value>[] =>
  entries.map(({ id, body }, index) => ({ session, position: first + index, id, body, put_at: now }));

interface PutArgs {
  session: string;
  entries: readonly InputEntry[];
  /** Refused unless this is the last position. */
  after?: number;
}

/** Returns the position of the last entry. */
export const putInput = operation("inbox.put", put, { single: putInOneStatement });

function* put({ session, entries, after }: PutArgs): Work<number> {
  // Updating the row locks it: concurrent puts to one session are serialised.
  const log = yield* one(sql<{ number: number; inbox_seq: number; now: number }>`
    update log set inbox_seq = inbox_seq + ${entries.length} where session = ${session}
    returning number, inbox_seq, now_ms() as now`);
  if (!log) throw noSuchSession(session);
  if (after !== undefined && log.inbox_seq - entries.length !== after) {
    throw refuse("conflict", "Other input has arrived at the session meanwhile.");
  }
  // A late retry of a send must not be logged twice. The queue itself refuses ids that are still in it.
  const ids = entries.map(({ id }) => id);
  const logged = yield* one(sql<{ id: string }>`
    select id from event where log = ${log.number} and id in ${list(ids)} limit 1`);
  if (logged) throw refuse("conflict", `The session has the event ${logged.id} already.`);
  yield* insertAll("inbox", inputRows(session, log.inbox_seq - entries.length + 1, entries, log.now));
  return log.inbox_seq;
}

const ENTRIES_PER_STATEMENT = 16;

function putInOneStatement(args: PutArgs): Work<number> | undefined {
  const isSmall = args.entries.length <= ENTRIES_PER_STATEMENT && args.after === undefined;
  return isSmall ? advanceAndInsert(args) : undefined;
}

/**
 * Its snapshot lacks events that were appended while it waited for the row, which is when both ends of the log differ. Then it
 * stores nothing, and is repeated as a transaction.
 */
function* advanceAndInsert({ session, entries }: PutArgs): Work<number> {
  const count = raw(String(entries.length));
  const fresh = entries.map(({ id, body }, index) => sql`(${raw(String(index + 1))}, ${id}, ${body})`);
  const ids = list(entries.map(({ id }) => id));
  const row = yield* one(sql<{ inbox_seq: number; stored: number }>`
    with before as (
      select seq from log where session = ${session}
    ), advanced as (
      update log set inbox_seq = inbox_seq + ${count} where session = ${session}
      returning number, seq, inbox_seq, now_ms() as now
    ), stored as (
      insert into inbox (session, position, id, body, put_at)
      select ${session}, inbox_seq - ${count} + fresh.place, fresh.id, fresh.body, now
      from advanced join before on before.seq = advanced.seq, (values ${join(fresh, ", ")}) as fresh (place, id, body)
      where not exists (select 1 from event where event.log = advanced.number and event.id in ${ids})
      returning 1
    )
    select inbox_seq, (select count(*) from stored) as stored from advanced`);
  if (!row) throw noSuchSession(session);
  if (row.stored < entries.length) throw refuse("conflict", "The session has one of these events already.");
  return row.inbox_seq;
}

export function* takeInput(session: string, ids: readonly string[]): Work<void> {
  yield sql`delete from inbox where session = ${session} and id in ${list(ids)}`;
}

export const listInput = operation("inbox.list", function* (session: string): Work<InputEntry[]> {
  return yield* all(sql<InputEntry>`select id, body from inbox where session = ${session} order by position`);
});

/** The position of the last entry ever put; 0 before the first. */
export const inputPosition = operation("inbox.position", function* (session: string): Work<number> {
  const log = yield* one(sql<{ inbox_seq: number }>`select inbox_seq from log where session = ${session}`);
  return log?.inbox_seq ?? 0;
});

export interface Waiting {
  session: string;
  position: number;
}

/** Sessions with input, and the highest position in it. */
export const waitingSessions = operation("inbox.waiting", function* (): Work<Waiting[]> {
  return yield* all(sql<Waiting>`
    select session, max(position) as position from inbox group by session order by session`);
});
