import type { Store, WorkerRow } from "@tandem/storage";

/** Which process of a fleet this is, and what it needs to find the others; of one tenant. */
export interface FleetProcess {
  /** In the words of its leases and of its row. */
  holder: string;
  role: WorkerRow["role"];
  /** The tenant's; the workers are everybody's. */
  store: Pick<Store, "events" | "leases" | "sessions" | "environments" | "workers" | "tokens">;
}
