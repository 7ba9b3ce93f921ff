import type { SessionEvent, SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import { inputPosition, listInput, putInput, waitingSessions, type InputEntry } from "../operations/input-queue.ts";
import type { InputQueue } from "../store.ts";
import type { ReadableLogs } from "./readable-logs.ts";

export const toEntry = (event: SessionEvent): InputEntry => ({ id: event.id, body: JSON.stringify(event) });

const toEvent = ({ body }: InputEntry): SessionEvent => JSON.parse(body) as SessionEvent;

export function createInputQueue(database: Database, broadcast: Broadcast, logs: ReadableLogs): InputQueue {
  return {
    put: async (session, events, options) => {
      if (events.length === 0) return;
      await logs.ensure(session);
      const args = { session, entries: events.map(toEntry), ...options };
      broadcast.put(session, await database.write(putInput, args, session));
    },
    position: async (session) => {
      await logs.ensure(session);
      return database.read(inputPosition, session);
    },
    list: async (session) => (await database.read(listInput, session)).map(toEvent),
    sessions: async () => (await database.read(waitingSessions, undefined)).map(({ session }) => session as SessionId),
    onPut: (listener) => broadcast.onPut(listener),
  };
}
