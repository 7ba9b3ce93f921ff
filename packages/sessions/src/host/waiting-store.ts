import type { Store } from "@tandem/storage";
import type { DatabaseWait } from "./database-wait.ts";

/**
 * The store as the turns of one session use it: reads, and writes that may be repeated, wait for an unavailable database.
 * Appends to the log have their own retry in the outbox. Leases are not waited for: `LeaseWatch` renews them.
 */
export function waitingStore(store: Store, database: DatabaseWait): Store {
  const waits =
    <A extends readonly unknown[], T>(method: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      database.run(() => method(...args));
  const { events, inbox, sessions, files, transcripts, records, spending } = store;
  return {
    ...store,
    events: { ...events, read: waits(events.read), find: waits(events.find), head: waits(events.head) },
    inbox: { ...inbox, list: waits(inbox.list) },
    sessions: { ...sessions, get: waits(sessions.get), threads: waits(sessions.threads), list: waits(sessions.list) },
    files: { ...files, get: waits(files.get), content: waits(files.content) },
    transcripts: {
      append: waits(transcripts.append),
      replace: waits(transcripts.replace),
      load: waits(transcripts.load),
      subpaths: waits(transcripts.subpaths),
    },
    records: { ...records, get: waits(records.get), getMany: waits(records.getMany), list: waits(records.list) },
    // Settling writes totals, not differences.
    spending: { ...spending, settle: waits(spending.settle), read: waits(spending.read) },
  };
}
