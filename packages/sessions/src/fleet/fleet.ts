import type { DeadLetter, FleetStatus, FleetWorker } from "@tandem/protocol";

/** The processes on a store, seen from any of them. */
export interface Fleet {
  status(): Promise<FleetStatus>;
  /** Runs that were given up, newest first. */
  dead(): Promise<DeadLetter[]>;
  /** Sends one of them again, with all its attempts. `RequestError("not_found")` if there is none. */
  requeue(key: string, by?: string): Promise<void>;
  /**
   * Has a worker take nothing more and hand over what it has; resolves when that is written down, and the worker hears of it
   * with its next beat. By id, name or the beginning of an id; `RequestError("not_found")` if none lives that is called so.
   */
  drain(worker: string, by?: string): Promise<FleetWorker>;
}
