import { expect } from "vitest";
import type { QueueOptions, Run, RunQueue, Working } from "../run-queue.ts";

/** One place where runs are carried, however many open it. */
export interface QueueFixture extends AsyncDisposable {
  /** A queue with nothing in it. */
  open(options?: QueueOptions): Promise<RunQueue>;
  /** Time enough for a worker to do what it must not. */
  aWhileMs: number;
  /** The shortest pause before another attempt. */
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

/** A worker that a test leads by the hand: what it takes is under way until the test ends it. */
export class Hand {
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

  fail(key: string, words: string): void {
    this.#open.get(key)!.fail(new Error(words));
    this.#open.delete(key);
  }

  async begins(...keys: string[]): Promise<void> {
    await expect.poll(() => this.keys.toSorted()).toEqual(keys.toSorted());
  }
}
