import type { SessionEvent, SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import { inboxPosition, listInbox, putIntoInbox, waitingSessions, type InboxEntry } from "../operations/inbox.ts";
import type { Inbox } from "../store.ts";
import type { ReadableLogs } from "./readable-logs.ts";

export const toEntry = (event: SessionEvent): InboxEntry => ({ id: event.id, body: JSON.stringify(event) });

const toEvent = ({ body }: InboxEntry): SessionEvent => JSON.parse(body) as SessionEvent;

export function createInbox(database: Database, broadcast: Broadcast, logs: ReadableLogs): Inbox {
  return {
    put: async (session, events, options) => {
      if (events.length === 0) return;
      await logs.ensure(session);
      const args = { session, entries: events.map(toEntry), ...options };
      broadcast.put(session, await database.write(putIntoInbox, args, session));
    },
    position: async (session) => {
      await logs.ensure(session);
      return database.read(inboxPosition, session);
    },
    list: async (session) => (await database.read(listInbox, session)).map(toEvent),
    sessions: async () => (await database.read(waitingSessions, undefined)).map(({ session }) => session as SessionId),
    onPut: (listener) => broadcast.onPut(listener),
  };
}
