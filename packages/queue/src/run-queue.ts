/**
 * Delivers "advance session S" or "advance the jobs of kind K in context C" to a worker that can. It carries no other
 * data: the work is in the store, and the worker reads it there. Sending twice is idempotent; a lost run is sent again
 * when a sweep finds its session or job waiting.
 */
export interface RunQueue extends AsyncDisposable {
  /**
   * Resolves when the run is durable, if the queue is. A run already waiting for the key is kept; behind a running one,
   * one more waits. Replaces a dead letter of the key, so a sweep that only finds a waiting session must check `dead()`
   * first.
   */
  send(run: Run): Promise<void>;
  /**
   * Takes runs of these places, one per key at a time: highest priority first, then the tenant with the fewest running.
   * `capacity()` is the maximum of running runs in this worker. `handle` resolves when the key has nothing
   * left to do. If it rejects, the run is retried with growing backoff; if its worker dies, at once. After too many attempts it
   * becomes a dead letter. Its signal fires when the run is cancelled, aborted by `stop`, or taken from this worker.
   */
  work(
    places: readonly string[],
    capacity: () => number,
    handle: (run: Run, signal: AbortSignal) => Promise<void>,
    restrictions?: WorkRestrictions,
  ): Working;
  /** Removes a waiting or dead run; aborts a running one, which is not retried. */
  cancel(key: string): Promise<void>;
  /** Dead letters, newest first. */
  dead(): Promise<DeadRun[]>;
  /** Sends a dead letter again with all its attempts. False if there is none. */
  requeue(key: string): Promise<boolean>;
  depth(): Promise<QueueDepth[]>;
}

export interface Run {
  kind: "session" | "job";
  /** The session's id, or that of `jobRun`: one run per key at a time. */
  key: string;
  tenant: string;
  /** Which workers can take it; see `placeOf` of sessions, and `jobRun`. */
  place: string;
  /** Higher first; default 0. */
  priority: number;
  /** W3C trace context of the sender. */
  traceparent?: string;
}

interface WorkRestrictions {
  /** Takes only runs of these tenants; default: all. */
  tenants?: readonly string[] | null | undefined;
  /** How often a durable queue is checked for runs without a notification: after a backoff, or of a dead worker. */
  pollMs?: number | undefined;
}

/** Arguments of `work`. */
export interface WorkOptions extends WorkRestrictions {
  places: readonly string[];
  capacity: () => number;
  handle: (run: Run, signal: AbortSignal) => Promise<void>;
}

export interface Working {
  /** Also takes runs of this place from now on. */
  serve(place: string): Promise<void>;
  /** Capacity has grown: take more at once. */
  look(): void;
  /** Takes nothing more; running runs continue. */
  pause(): Promise<void>;
  /** Resolves when nothing is running. Runs aborted by the deadline return to the queue. */
  stop(deadlineMs: number): Promise<void>;
}

export interface DeadRun {
  run: Run;
  /** Error of the last attempt. */
  error: string;
  attempts: number;
  at: string;
}

export interface QueueDepth {
  place: string;
  waiting: number;
  running: number;
  /** Age of the run that has waited longest. */
  oldestMs: number | null;
}

export interface QueueOptions {
  /** Maximum of running sessions of a tenant, over all workers; default: unlimited. Jobs do not count. */
  limitOf?: (tenant: string) => number;
  /** Attempts before a run whose handler fails becomes a dead letter. */
  attempts?: number;
  /** Backoff before the second attempt, in whole seconds; it doubles up to a minute. */
  pauseSeconds?: number;
  /**
   * Of a durable queue: a worker without a heartbeat for so long has lost its runs; default: 10 s. Processes may differ.
   */
  silentMs?: number;
}

export const DEFAULT_ATTEMPTS = 5;
/** Of a run whose workers die. Other causes than the run kill workers, too, such as an upgrade or an overloaded machine. */
export const DEFAULT_LOST_ATTEMPTS = 20;
/** A worker without a heartbeat for so long has lost its runs. */
export const DEFAULT_SILENT_SECONDS = 10;
export const DEFAULT_PAUSE_SECONDS = 1;
export const MAX_PAUSE_SECONDS = 60;
