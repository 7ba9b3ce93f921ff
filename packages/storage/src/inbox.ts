import { RequestError, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { Broadcast } from "./broadcast.ts";
import type { Database } from "./database.ts";
import { operation } from "./operation.ts";
import { all, insertAll, list, one, sql, type Value, type Work } from "./sql.ts";
import type { Inbox } from "./store.ts";
import { waitingSessions } from "./whats-new.ts";

/** How long a send that is repeated is known as such. */
const REMEMBERED_MS = 3_600_000;

interface Entry {
  id: string;
  body: string;
}

interface PutResult {
  entries: Entry[];
  /** Of the last one; undefined if nothing was stored. */
  position: number | undefined;
}

export const toEntry = (event: SessionEvent): Entry => ({ id: event.id, body: JSON.stringify(event) });

const toEvent = ({ body }: Entry): SessionEvent => JSON.parse(body) as SessionEvent;

export const inboxRows = (
  session: string,
  first: number,
  entries: readonly Entry[],
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

const put = operation(
  "inbox.put",
  function* (args: { session: string; entries: Entry[]; dedupe: string | undefined }): Work<PutResult> {
    const { session, entries, dedupe } = args;
    // Writes the row, and so makes puts to one session wait for each other: a repeated one sees the first.
    const log = yield* one(sql<{ inbox_seq: number; now: number }>`
    update log set inbox_seq = inbox_seq + ${entries.length} where session = ${session}
    returning inbox_seq, now_ms() as now`);
    if (!log) throw noSuchSession(session);
    yield sql`delete from inbox where taken = 1 and put_at < ${log.now - REMEMBERED_MS}`;
    if (dedupe !== undefined) {
      const before = yield* all(sql<Entry>`
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

const listWaiting = operation("inbox.list", function* (session: string): Work<Entry[]> {
  return yield* all(sql<Entry>`select id, body from inbox where session = ${session} and taken = 0 order by position`);
});

export const noSuchSession = (session: string): RequestError =>
  new RequestError("not_found", `There is no session ${session}.`);

export function createInbox(database: Database, broadcast: Broadcast): Inbox {
  return {
    put: async (session, events, dedupe) => {
      if (events.length === 0) return [];
      const result = await database.write(put, { session, entries: events.map(toEntry), dedupe }, session);
      if (result.position !== undefined) broadcast.put(session, result.position);
      return result.entries.map(toEvent);
    },
    list: async (session) => (await database.read(listWaiting, session)).map(toEvent),
    sessions: async () => (await database.read(waitingSessions, undefined)).map(({ session }) => session as SessionId),
    onPut: (listener) => broadcast.onPut(listener),
  };
}
