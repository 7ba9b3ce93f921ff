export { createEmbeddedQueue } from "./embedded/create-embedded-queue.ts";
export type { PgBossQueueOptions } from "./pg-boss/pg-boss-adapter.ts";
export { openPgBossQueue } from "./pg-boss/open-pg-boss-queue.ts";
export type { DeadRun, QueueDepth, QueueOptions, Run, RunQueue, Working } from "./run-queue.ts";
