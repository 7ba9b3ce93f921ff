import type { Store } from "@tandem/storage";

/**
 * The store as the engine of one command sees it: what others have sent or left is for a server to take up, not for a
 * process that is about to end.
 */
export function ownSessions(store: Store): Store {
  return {
    ...store,
    inbox: { ...store.inbox, sessions: async () => [], onPut: () => () => {} },
    leases: { ...store.leases, abandoned: async () => [] },
  };
}
