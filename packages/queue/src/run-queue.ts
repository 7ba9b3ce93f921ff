/**
 * Carries "advance session S" to a worker that can. It carries nothing else: what there is to do
 * stands in the store, and whoever takes a run reads it there. A run that is sent twice is one; a run that is lost is sent
 * again by whoever finds that its session waits.
 */
export interface RunQueue extends AsyncDisposable {
  /**
   * Resolves when it is durable, where the queue is. One that waits already for the same key stays as it is; while one is
   * under way, one more waits for it to end. A dead letter of the key is replaced: whoever merely finds that a session waits
   * looks at `dead()` first.
   */
  send(run: Run): Promise<void>;
  /**
   * Takes runs of these places, one per key at a time, the most urgent first and then the tenant with the fewest under way.
   * `capacity()` is how many may be under way in this worker, those that are included. `handle` resolves when the session
   * has nothing to do for now; if it rejects or its worker dies, the run is tried again with growing pauses, and is a dead
   * letter after the last. Its signal fires when the run is cancelled, cut off by `stop`, or taken from this worker.
   */
  work(
    places: readonly string[],
    capacity: () => number,
    handle: (run: Run, signal: AbortSignal) => Promise<void>,
    /** Runs of these alone; of all without it. */
    tenants?: readonly string[] | null,
  ): Working;
  /** A waiting run is gone, a dead one too; the signal of one that is under way fires, and it is not tried again. */
  cancel(key: string): Promise<void>;
  /** Runs that were given up, newest first. */
  dead(): Promise<DeadRun[]>;
  /** Sends a dead one again, with all its attempts. False if there is none. */
  requeue(key: string): Promise<boolean>;
  depth(): Promise<QueueDepth[]>;
}

export interface Run {
  kind: "session";
  /** Of the session: one run per key at a time. */
  key: string;
  tenant: string;
  /** Which workers can take it: see `placeOf`. */
  place: string;
  /** Higher goes first; 0 unless somebody says otherwise. */
  priority: number;
  /** W3C trace context of whoever sent it. */
  traceparent?: string;
}

/** What `work` was asked for. */
export interface WorkWishes {
  places: readonly string[];
  capacity: () => number;
  handle: (run: Run, signal: AbortSignal) => Promise<void>;
  tenants?: readonly string[] | null | undefined;
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

export interface QueueOptions {
  /** How many runs of a tenant may be under way at once, in all workers; no limit without it. */
  limitOf?: (tenant: string) => number;
  /** How often a run is tried before it is a dead letter. */
  attempts?: number;
  /** Before the second attempt; each further one waits about twice as long, a minute at most. Whole seconds. */
  pauseSeconds?: number;
}

export const DEFAULT_ATTEMPTS = 5;
export const DEFAULT_PAUSE_SECONDS = 1;
export const LONGEST_PAUSE_SECONDS = 60;
