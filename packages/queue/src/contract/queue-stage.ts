import { expect } from "vitest";
import type { QueueOptions, Run, RunQueue, Working } from "../run-queue.ts";

/** A queue backend under test; it can be opened several times. */
export interface QueueFixture extends AsyncDisposable {
  /** Opens an empty queue. */
  open(options?: QueueOptions): Promise<RunQueue>;
  /** Ends the heartbeats of a running run of the queue opened last. Undefined if workers cannot die without their queue. */
  silence?(key: string): Promise<void>;
  /** Long enough for a worker to do something forbidden. */
  aWhileMs: number;
  /** The shortest backoff. */
  pauseSeconds: number;
}

export const runOf = (key: string, more: Partial<Run> = {}): Run => ({
  kind: "session",
  key,
  tenant: "default",
  place: "any",
  priority: 0,
  ...more,
});

/** A worker controlled by the test: its runs last until the test ends them. */
export class ManualWorker {
  readonly begun: Run[] = [];
  readonly working: Working;
  capacity: number;
  readonly #open = new Map<string, { end: () => void; fail: (error: Error) => void; signal: AbortSignal }>();

  constructor(queue: RunQueue, places: string[] = ["any"], capacity = 10) {
    this.capacity = capacity;
    this.working = queue.work(
      places,
      () => this.capacity,
      (run, signal) =>
        new Promise((resolve, reject) => {
          this.begun.push(run);
          this.#open.set(run.key, { end: resolve, fail: reject, signal });
        }),
    );
  }

  get keys(): string[] {
    return this.begun.map(({ key }) => key);
  }

  get underWay(): string[] {
    return [...this.#open.keys()];
  }

  signal(key: string): AbortSignal {
    return this.#open.get(key)!.signal;
  }

  end(key: string): void {
    this.#open.get(key)!.end();
    this.#open.delete(key);
  }

  fail(key: string, message: string): void {
    this.#open.get(key)!.fail(new Error(message));
    this.#open.delete(key);
  }

  async begins(...keys: string[]): Promise<void> {
    await expect.poll(() => this.keys.toSorted()).toEqual(keys.toSorted());
  }
}
