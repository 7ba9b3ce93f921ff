import type { RunQueue } from "@tandem/queue";
import type { Records, WorkerRow } from "@tandem/storage";
import type { PeerWorkers } from "./peer-workers.ts";
import type { RecentOutage } from "./recent-outage.ts";

/** An engine's settings as part of a fleet. */
export interface FleetSettings {
  /** Which process starts sessions: see `SessionActors`. */
  queue: RunQueue;
  /** A server accepts requests and streams, and runs no turns. */
  role: WorkerRow["role"];
  /** The tenant of this engine. */
  tenant: string;
  /** The worker's name in its row. */
  worker: Pick<WorkerRow, "id" | "machine" | "labels" | "tenants">;
  /** The limit of held sessions in all engines of the process: see `FleetWorker`. */
  maxSessions: number;
  peers: Pick<PeerWorkers, "contested" | "ended">;
  /** When this process last had no database. */
  outage: RecentOutage;
}

export interface FleetMembership {
  /** Without it, each process takes the sessions whose input it finds. */
  fleet?: FleetSettings;
  /** Outside of a fleet, the queue of this process's jobs, for the status. */
  jobQueue?: RunQueue;
  /** Records shared by all tenants: account limits and fleet figures. By default they are in the engine's store. */
  sharedRecords?: Records;
}
