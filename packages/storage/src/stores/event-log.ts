import { type Announcement, announcementsOf, type LoggedEvent, RequestError, type SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import { appendEvents, findEvents, type ReadArgs, readEvents, readHead, readAfter } from "../operations/events.ts";
import type { LoggedRow } from "../operations/event-rows.ts";
import type { EventLog, SessionChange } from "../store.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import type { ReadableLogs } from "./readable-logs.ts";
import { asLogged, encodeEvent, toLoggedEvent } from "./rows/event-row.ts";
import { encodeChange, encodeThread } from "./rows/session-row.ts";
import { plainLease } from "./leases.ts";
import { toSpan } from "./rows/time.ts";

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
      if (events.length > 0) broadcast.appended(lease.session, events);
      return events;
    });
  };

  /** The events of an earlier, committed append, for a caller that retries after a lost response. */
  const findRepeated = async (session: SessionId, ids: readonly string[]): Promise<LoggedEvent[] | undefined> => {
    const rows = await database.read(findEvents, { session, ids });
    const isSame = rows.length === ids.length && rows.every(({ id }, index) => id === ids[index]);
    return isSame ? rows.map(toLoggedEvent) : undefined;
  };

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
    read: async (session, range) => {
      try {
        const rows = await readLogRows(database, { ...range, session, since: toSpan(range.since) });
        return rows.map(toLoggedEvent);
      } catch (error) {
        logs.doubt(session);
        throw error;
      }
    },
    find: async (session, id) => {
      const [row] = await database.read(findEvents, { session, ids: [id] });
      return row && toLoggedEvent(row);
    },
    head: async (session) => (await database.read(readHead, session)) ?? 0,
    follow: (session, after, signal) =>
      broadcast.follow(session, after, signal, async (from) => {
        const part = await database.read(readAfter, { session, after: from });
        return part && { events: part.rows.map(toLoggedEvent), more: part.more };
      }),
    onAppend: (listener) => broadcast.onAppend(listener),
    onGrowth: (listener) => broadcast.onGrowth(listener),
  };
}

const archival = (session: SessionId, change: SessionChange | undefined): Announcement[] =>
  change?.archivedAt ? [{ type: "session.archived", id: session }] : [];

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
