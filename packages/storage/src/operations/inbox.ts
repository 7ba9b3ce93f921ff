import { operation } from "../operation.ts";
import { noSuchSession, refuse } from "../refusal.ts";
import { all, insertAll, list, one, sql, type Value, type Work } from "../sql-statement.ts";

export interface InboxEntry {
  id: string;
  body: string;
}

export const inboxRows = (
  session: string,
  first: number,
  entries: readonly InboxEntry[],
  now: number,
): Record<string, Value>[] =>
  entries.map(({ id, body }, index) => ({ session, position: first + index, id, body, put_at: now }));

/** Returns the position of the last entry. */
export const putIntoInbox = operation(
  "inbox.put",
  function* (args: { session: string; entries: InboxEntry[] }): Work<number> {
    const { session, entries } = args;
    // Updating the row locks it: concurrent puts to one session are serialised.
    const log = yield* one(sql<{ number: number; inbox_seq: number; now: number }>`
    update log set inbox_seq = inbox_seq + ${entries.length} where session = ${session}
    returning number, inbox_seq, now_ms() as now`);
    if (!log) throw noSuchSession(session);
    // A late retry of a send must not be logged twice. The inbox itself refuses ids that are still in it.
    const ids = entries.map(({ id }) => id);
    const logged = yield* one(sql<{ id: string }>`
    select id from event where log = ${log.number} and id in ${list(ids)} limit 1`);
    if (logged) throw refuse("conflict", `The session has the event ${logged.id} already.`);
    yield* insertAll("inbox", inboxRows(session, log.inbox_seq - entries.length + 1, entries, log.now));
    return log.inbox_seq;
  },
);

export function* takeFromInbox(session: string, ids: readonly string[]): Work<void> {
  yield sql`delete from inbox where session = ${session} and id in ${list(ids)}`;
}

export const listInbox = operation("inbox.list", function* (session: string): Work<InboxEntry[]> {
  return yield* all(sql<InboxEntry>`select id, body from inbox where session = ${session} order by position`);
});

export interface Waiting {
  session: string;
  position: number;
}

/** Sessions with a non-empty inbox, and the highest position in it. */
export const waitingSessions = operation("inbox.waiting", function* (): Work<Waiting[]> {
  return yield* all(sql<Waiting>`
    select session, max(position) as position from inbox group by session order by session`);
});
