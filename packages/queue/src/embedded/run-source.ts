import type { Run } from "../run-queue.ts";

export interface WaitingRun {
  run: Run;
  sentAt: number;
  /** Earliest start, after a backoff. */
  from: number;
  failures: number;
}

export interface RunUnderWay extends WaitingRun {
  abort: AbortController;
}

/** The queue as a worker sees it. */
export interface RunSource {
  /** The most urgent waiting run that the worker can take. */
  take(canTake: (run: Run) => boolean, served: Map<string, number>): RunUnderWay | undefined;
  /** False if the run was taken from the worker meanwhile. */
  end(taken: RunUnderWay): boolean;
  fail(taken: RunUnderWay, error: unknown): void;
  returnToQueue(taken: RunUnderWay): void;
  /** Lets all workers take what waits. */
  look(): void;
  readonly workers: { delete(worker: unknown): boolean };
}
