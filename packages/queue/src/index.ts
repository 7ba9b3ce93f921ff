export type { DeadRun, QueueDepth, Run, RunQueue, Working } from "./run-queue.ts";
