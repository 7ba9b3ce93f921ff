/**
 * Carries "advance session S" (and "work on job J") to a worker that can. It carries nothing else: what there is to do
 * stands in the store, and whoever takes a run reads it there. A run that is sent twice is one; a run that is lost is sent
 * again by whoever finds that its session waits.
 */
export interface RunQueue extends AsyncDisposable {
  /** Resolves when it is durable, where the queue is. One that waits already for the same key stays as it is. */
  send(run: Run): Promise<void>;
  /**
   * Takes runs of these places, `capacity()` at most at a time, one per key anywhere, the most urgent and the least served
   * group first. `handle` resolves when the session has nothing to do for now; if it rejects or its worker dies, the run is
   * tried again with growing pauses, and is a dead letter after the last. `places` may grow: see `Working.serve`.
   */
  work(
    places: readonly string[],
    capacity: () => number,
    handle: (run: Run, signal: AbortSignal) => Promise<void>,
  ): Working;
  /** A waiting run is gone; the signal of one that is under way fires. */
  cancel(key: string): Promise<void>;
  /** Runs that were given up, newest first. */
  dead(): Promise<DeadRun[]>;
  /** Sends a dead one again, with all its attempts. False if there is none. */
  requeue(key: string): Promise<boolean>;
  depth(): Promise<QueueDepth[]>;
}

export interface Run {
  kind: "session" | "job";
  /** Of the session or job: one run per key at a time. */
  key: string;
  tenant: string;
  /** Which workers can take it: see `placeOf`. */
  place: string;
  /** Higher goes first; 0 unless somebody says otherwise. */
  priority: number;
  /** W3C trace context of whoever sent it. */
  traceparent?: string;
}

export interface Working {
  /** Runs of this place are taken too, from now on. */
  serve(place: string): Promise<void>;
  /** Capacity has grown: look at once. */
  look(): void;
  /** Takes nothing more; what is under way goes on. */
  pause(): Promise<void>;
  /** Resolves when nothing is under way any more. What the deadline cuts off goes back to be taken by others. */
  stop(deadlineMs: number): Promise<void>;
}

export interface DeadRun {
  run: Run;
  /** Of the last attempt. */
  error: string;
  attempts: number;
  at: string;
}

export interface QueueDepth {
  place: string;
  waiting: number;
  running: number;
  /** Of the run that has waited longest. */
  oldestMs: number | null;
}
