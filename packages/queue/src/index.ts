import type { PostgresQueueOptions } from "./postgres/open-postgres-queue.ts";
import type { RunQueue } from "./run-queue.ts";

export { createEmbeddedQueue } from "./embedded/create-embedded-queue.ts";
export { isJobPlace, jobKindOf, jobPlace, jobRun } from "./job-runs.ts";
export type { DeadRun, QueueDepth, Run, RunQueue, Working } from "./run-queue.ts";

/** See `postgres/open-postgres-queue.ts`. Imported on demand: commands that use the embedded queue need no Postgres driver. */
export async function openPostgresQueue(url: string, options?: PostgresQueueOptions): Promise<RunQueue> {
  const queue = await import("./postgres/open-postgres-queue.ts");
  return queue.openPostgresQueue(url, options);
}
