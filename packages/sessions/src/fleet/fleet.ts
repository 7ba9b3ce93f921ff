import type { DeadLetter, FleetStatus, FleetWorker } from "@tandem/protocol";

/** The processes on a store, as seen from any of them. */
export interface Fleet {
  status(): Promise<FleetStatus>;
  /** Dead letters, newest first. */
  dead(): Promise<DeadLetter[]>;
  /** Requeues a dead letter with all its attempts. `RequestError("not_found")` if there is none. */
  requeue(key: string, by?: string): Promise<void>;
  /**
   * Asks a worker to take no more work and hand over its sessions. Resolves when the request is stored; the worker sees it with
   * its next heartbeat. By id, name or id prefix; `RequestError("not_found")` if no live worker matches.
   */
  drain(worker: string, by?: string): Promise<FleetWorker>;
}
