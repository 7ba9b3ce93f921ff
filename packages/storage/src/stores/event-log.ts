import { type Announcement, announcementsOf, type LoggedEvent, RequestError, type SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import { appendEvents, findEvents, type ReadArgs, readEvents, readHead, readAfter } from "../operations/events.ts";
import type { LoggedRow } from "../operations/event-rows.ts";
import type { EventLog, EventRange, SessionChange } from "../store.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import type { ReadableLogs } from "./readable-logs.ts";
import { asLogged, encodeEvent, toLoggedEvent } from "../rows/event-row.ts";
import { LogEntry, toEncodedEvent } from "../rows/log-entry.ts";
import { encodeChange, encodeThread } from "../rows/session-row.ts";
import { plainLease } from "./leases.ts";
import { toSpan } from "../rows/time.ts";

export function createEventLog(
  database: Database,
  broadcast: Broadcast,
  logs: ReadableLogs,
  announcements: AnnouncementPort,
): EventLog {
  const append: EventLog["append"] = async (lease, entries, with_ = {}) => {
    const rows = entries.map(({ thread, event }) => encodeEvent(thread, event));
    const args = {
      lease: plainLease(lease),
      rows,
      taken: with_.taken ?? [],
      threads: with_.threads?.map(encodeThread) ?? [],
      change: with_.session && encodeChange(with_.session, with_.row),
    };
    const news = [
      ...entries.flatMap(({ event }) => announcementsOf(lease.session, event)),
      ...archival(lease.session, with_.session),
      ...(with_.announce ?? []),
    ];
    return broadcast.during(lease.session, async () => {
      const first = await announcements.with(news, (announce) =>
        database.write(appendEvents, { ...args, announce }, lease.session),
      );
      const events = entries.map(({ thread, event }, index) => asLogged(first + index, thread, event, rows[index]!.at));
      const appended = events.map((logged, index) => new LogEntry({ ...rows[index]!, seq: logged.seq }, logged));
      if (appended.length > 0) broadcast.appended(lease.session, appended);
      return events;
    });
  };

  /** The events of an earlier, committed append, for a caller that retries after a lost response. */
  const findRepeated = async (session: SessionId, ids: readonly string[]): Promise<LoggedEvent[] | undefined> => {
    const rows = await database.read(findEvents, { session, ids });
    const isSame = rows.length === ids.length && rows.every(({ id }, index) => id === ids[index]);
    return isSame ? rows.map(toLoggedEvent) : undefined;
  };

  const readRows = async (session: SessionId, range: EventRange): Promise<LoggedRow[]> => {
    try {
      return await readLogRows(database, { ...range, session, since: toSpan(range.since) });
    } catch (error) {
      logs.doubt(session);
      throw error;
    }
  };

  const follow = (session: SessionId, after: number, signal: AbortSignal): AsyncIterableIterator<LogEntry[]> =>
    broadcast.follow(session, after, signal, async (from) => {
      const part = await database.read(readAfter, { session, after: from });
      return part && { events: part.rows.map((row) => new LogEntry(row)), more: part.more };
    });

  return {
    append: async (lease, entries, with_) => {
      await logs.ensure(lease.session);
      try {
        return await append(lease, entries, with_);
      } catch (error) {
        if (!(error instanceof RequestError && error.code === "conflict")) throw error;
        const ids = entries.map(({ event }) => event.id);
        const events = await findRepeated(lease.session, ids);
        if (!events) throw error;
        return events;
      }
    },
    read: async (session, range) => (await readRows(session, range)).map(toLoggedEvent),
    readEncoded: async (session, range) => (await readRows(session, range)).map(toEncodedEvent),
    find: async (session, id) => {
      const [row] = await database.read(findEvents, { session, ids: [id] });
      return row && toLoggedEvent(row);
    },
    head: async (session) => (await database.read(readHead, session)) ?? 0,
    follow: (...args) => convertEach(follow(...args), ({ logged }) => logged),
    followEncoded: (...args) => convertEach(follow(...args), ({ encoded }) => encoded),
    onAppend: (listener) => broadcast.onAppend(listener),
    onGrowth: (listener) => broadcast.onGrowth(listener),
  };
}

const archival = (session: SessionId, change: SessionChange | undefined): Announcement[] =>
  change?.archivedAt ? [{ type: "session.archived", id: session }] : [];

/** Not a generator: a consumer that leaves while it waits must end the follower at once. */
function convertEach<From, To>(
  batches: AsyncIterableIterator<From[]>,
  convert: (item: From) => To,
): AsyncIterableIterator<To[]> {
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    await batches.return?.();
    return { done: true, value: undefined };
  };
  return {
    next: async () => {
      const step = await batches.next();
      if (step.done) return step;
      try {
        return { done: false, value: step.value.map(convert) };
      } catch (error) {
        await end();
        throw error;
      }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Reads a range of a log in as many queries as needed. */
export async function readLogRows(database: Database, args: ReadArgs): Promise<LoggedRow[]> {
  const found: LoggedRow[] = [];
  let rest = args;
  while (rest.limit > 0) {
    const { rows, more } = await database.read(readEvents, rest);
    for (const row of rows) found.push(row);
    const last = rows.at(-1)?.seq;
    if (!more || last === undefined) break;
    const bound = args.order === "desc" ? { before: last } : { after: last };
    rest = { ...args, ...bound, limit: args.limit - found.length };
  }
  return found;
}
