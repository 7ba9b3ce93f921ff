import { DUE, WEBHOOKS, type Store } from "@tandem/storage";
import { loadSessions } from "../compose.ts";

/** True if a session, a job or a webhook has pending work and no process holds it, or a deployment has a schedule. */
export const isWanted = async (store: Store): Promise<boolean> =>
  (await store.leases.waitingForWorker()).length > 0 ||
  (await store.jobs.waiting()).length > 0 ||
  (await store.records.list(WEBHOOKS, DUE, { limit: 1 })).length > 0 ||
  (await (await loadSessions()).hasSchedules(store.records));

/** True if the store has pending turns, answers, timers or jobs. */
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
