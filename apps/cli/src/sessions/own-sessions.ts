import type { Store } from "@tandem/storage";

/**
 * The store as the engine of one command sees it: what others have sent or left is for a server to take up, not for a
 * process that is about to end. But what others send to a session that is `ours`, such as an approval's answer, is heard.
 */
export function ownSessions(store: Store, isOurs: (session: string) => boolean = () => false): Store {
  return {
    ...store,
    inbox: {
      ...store.inbox,
      sessions: async () => (await store.inbox.sessions()).filter(isOurs),
      onPut: (listener) => store.inbox.onPut((session) => void (isOurs(session) && listener(session))),
    },
    leases: { ...store.leases, abandoned: async () => [] },
  };
}
