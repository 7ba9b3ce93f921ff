import type { Store } from "@tandem/storage";

/** Whether something waits in a store for a process that works on it: turns, answers, a clock, or jobs. */
export async function hasWork(store: Store): Promise<boolean> {
  const asked = [
    async () => (await store.leases.wanted()).length > 0,
    async () => (await store.sessions.list({ limit: 1, statuses: ["running", "rescheduling"] })).data.length > 0,
    async () => (await store.sessions.list({ limit: 1, waiting: true })).data.length > 0,
    async () => (await store.jobs.list({ limit: 1, states: ["queued", "running"] })).data.length > 0,
  ];
  for (const ask of asked) if (await ask()) return true;
  return false;
}
