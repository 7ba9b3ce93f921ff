import { operation } from "../operation.ts";
import { noSuchSession } from "../refusal.ts";
import { all, insertAll, list, one, sql, type Value, type Work } from "../sql.ts";

/** How long a send that is repeated is known as such. */
const REMEMBERED_MS = 3_600_000;

export interface InboxEntry {
  id: string;
  body: string;
}

export const inboxRows = (
  session: string,
  first: number,
  entries: readonly InboxEntry[],
  now: number,
  dedupe: string | null = null,
): Record<string, Value>[] =>
  entries.map(({ id, body }, index) => ({
    session,
    position: first + index,
    id,
    body,
    put_at: now,
    dedupe,
    taken: 0,
  }));

export interface PutResult {
  entries: InboxEntry[];
  /** Of the last one; undefined if nothing was stored. */
  position: number | undefined;
}

export const putIntoInbox = operation(
  "inbox.put",
  function* (args: { session: string; entries: InboxEntry[]; dedupe: string | undefined }): Work<PutResult> {
    const { session, entries, dedupe } = args;
    // Writes the row, and so makes puts to one session wait for each other: a repeated one sees the first.
    const log = yield* one(sql<{ inbox_seq: number; now: number }>`
    update log set inbox_seq = inbox_seq + ${entries.length} where session = ${session}
    returning inbox_seq, now_ms() as now`);
    if (!log) throw noSuchSession(session);
    yield sql`delete from inbox where taken = 1 and put_at < ${log.now - REMEMBERED_MS}`;
    if (dedupe !== undefined) {
      const before = yield* all(sql<InboxEntry>`
      select id, body from inbox
      where session = ${session} and dedupe = ${dedupe} and put_at >= ${log.now - REMEMBERED_MS} order by position`);
      if (before.length > 0) return { entries: before, position: undefined };
    }
    yield* insertAll("inbox", inboxRows(session, log.inbox_seq - entries.length + 1, entries, log.now, dedupe));
    return { entries, position: log.inbox_seq };
  },
);

/** Entries that may be sent again are kept for an hour, though they wait no more: the answer is to be the same. */
export function* takeFromInbox(session: string, ids: readonly string[]): Work<void> {
  yield sql`delete from inbox where session = ${session} and id in ${list(ids)} and dedupe is null`;
  yield sql`update inbox set taken = 1 where session = ${session} and id in ${list(ids)}`;
}

export const listInbox = operation("inbox.list", function* (session: string): Work<InboxEntry[]> {
  return yield* all(
    sql<InboxEntry>`select id, body from inbox where session = ${session} and taken = 0 order by position`,
  );
});

export interface Waiting {
  session: string;
  position: number;
}

/** Sessions that have something in their inbox, and up to which position. */
export const waitingSessions = operation("inbox.waiting", function* (): Work<Waiting[]> {
  return yield* all(sql<Waiting>`
    select session, max(position) as position from inbox where taken = 0 group by session order by session`);
});
