import type { Store } from "@tandem/storage";
import type { DatabaseWait } from "./database-wait.ts";

/**
 * The store as the turns of one session use it: reads, and writes that may be repeated, wait for an unavailable database.
 * Appends to the log have their own retry in the outbox. Leases are not waited for: `LeaseWatch` renews them.
 */
export function waitingStore(store: Store, database: DatabaseWait): Store {
  const wait = <T>(work: () => Promise<T>): Promise<T> => database.run(work);
  const { events, inputQueue, sessions, files, transcripts, records, spending } = store;
  return {
    ...store,
    events: {
      ...events,
      read: (...args) => wait(() => events.read(...args)),
      find: (...args) => wait(() => events.find(...args)),
      head: (session) => wait(() => events.head(session)),
    },
    inputQueue: { ...inputQueue, list: (session) => wait(() => inputQueue.list(session)) },
    sessions: {
      ...sessions,
      get: (id) => wait(() => sessions.get(id)),
      threads: (session) => wait(() => sessions.threads(session)),
      list: (query) => wait(() => sessions.list(query)),
    },
    files: { ...files, get: (id) => wait(() => files.get(id)), content: (id) => wait(() => files.content(id)) },
    transcripts: {
      append: (...args) => wait(() => transcripts.append(...args)),
      replace: (...args) => wait(() => transcripts.replace(...args)),
      load: (...args) => wait(() => transcripts.load(...args)),
      subpaths: (session) => wait(() => transcripts.subpaths(session)),
    },
    records: {
      ...records,
      get: (...args) => wait(() => records.get(...args)),
      getMany: (...args) => wait(() => records.getMany(...args)),
      list: (...args) => wait(() => records.list(...args)),
    },
    spending: {
      ...spending,
      // Settling writes totals, not differences.
      settle: (...args) => wait(() => spending.settle(...args)),
      read: (query) => wait(() => spending.read(query)),
    },
  };
}
