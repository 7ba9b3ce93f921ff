import type { Store } from "@tandem/storage";

/** Whether a session has something to do, and nobody who does it. */
export const isWanted = async (store: Store): Promise<boolean> => (await store.leases.wanted()).length > 0;

/** Whether something waits in a store for a process that works on it: turns, answers, a clock, or jobs. */
export async function hasWork(store: Store): Promise<boolean> {
  const asked = [
    () => isWanted(store),
    async () => (await store.sessions.list({ limit: 1, statuses: ["running", "rescheduling"] })).data.length > 0,
    async () => (await store.sessions.list({ limit: 1, waiting: true })).data.length > 0,
    async () => (await store.jobs.list({ limit: 1, states: ["queued", "running"] })).data.length > 0,
  ];
  for (const ask of asked) if (await ask()) return true;
  return false;
}
