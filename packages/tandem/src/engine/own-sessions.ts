import type { Store } from "@tandem/storage";

/**
 * The store as the engine of one command sees it: what others have sent or left is for a server to take up, not for a
 * process that is about to end. But what others send to a session that this engine has or had a part in, such as an
 * approval's answer, is heard.
 */
export function ownSessions(store: Store): Store {
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
