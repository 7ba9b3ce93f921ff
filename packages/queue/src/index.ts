import type { PgBossQueueOptions } from "./pg-boss/pg-boss-adapter.ts";
import type { RunQueue } from "./run-queue.ts";

export { createEmbeddedQueue } from "./embedded/create-embedded-queue.ts";
export { isJobPlace, jobKindOf, jobPlace, jobRun } from "./job-runs.ts";
export type { DeadRun, QueueDepth, Run, RunQueue, Working } from "./run-queue.ts";

/** See `pg-boss/open-pg-boss-queue.ts`. Imported on demand: commands that use the embedded queue need no pg-boss. */
export async function openPgBossQueue(url: string, options?: PgBossQueueOptions): Promise<RunQueue> {
  const adapter = await import("./pg-boss/open-pg-boss-queue.ts");
  return adapter.openPgBossQueue(url, options);
}
