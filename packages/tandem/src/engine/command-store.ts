import type { Store } from "@tandem/storage";

/**
 * Wraps the store for the engine of a single command. The engine ignores the pending work of other processes: a server should
 * pick it up, not a process about to exit. Messages to a session that this engine uses, such as an approval's answer, still
 * arrive.
 */
export function commandStore(store: Store): Store {
  const own = new Set<string>();
  return {
    ...store,
    inbox: {
      ...store.inbox,
      put: async (session, events) => {
        own.add(session);
        await store.inbox.put(session, events);
      },
      sessions: async () => (await store.inbox.sessions()).filter((session) => own.has(session)),
      onPut: (listener) => store.inbox.onPut((session) => void (own.has(session) && listener(session))),
    },
    leases: {
      ...store.leases,
      take: async (session, holder, ttlMs) => {
        const lease = await store.leases.take(session, holder, ttlMs);
        if (lease) own.add(session);
        return lease;
      },
      abandoned: async () => [],
    },
  };
}
