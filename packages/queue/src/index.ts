export { createEmbeddedQueue } from "./embedded/create-embedded-queue.ts";
export type { DeadRun, QueueDepth, QueueOptions, Run, RunQueue, Working } from "./run-queue.ts";
