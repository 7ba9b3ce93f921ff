import type { RunQueue } from "@tandem/queue";
import type { Records, WorkerRow } from "@tandem/storage";

/** What an engine knows of the fleet that it is part of. */
export interface FleetSettings {
  /** Who begins: see `SessionActors`. */
  queue: RunQueue;
  /** A server answers and streams, and runs no turn. */
  role: WorkerRow["role"];
  /** Whose engine this is. */
  tenant: string;
  /** As its row says. */
  worker: Pick<WorkerRow, "id" | "machine" | "labels" | "tenants">;
  /** Held at once, in all engines of the process: see `FleetWorker`. */
  maxSessions: number;
}

export interface FleetMembership {
  /** Without it, each process takes the sessions whose input it finds. */
  fleet?: FleetSettings;
  /** Records that all tenants share: limits of an account, figures of the fleet. Without it, they are in the engine's store. */
  sharedRecords?: Records;
}
