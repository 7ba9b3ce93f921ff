import type { Store, WorkerRow } from "@tandem/storage";

/** The identity of this process in a fleet, for one tenant, and the stores to find the other processes. */
export interface FleetProcess {
  /** The name in its leases and its row. */
  holder: string;
  role: WorkerRow["role"];
  /** The tenant's engine; the list of workers covers all tenants. */
  store: Pick<Store, "events" | "leases" | "sessions" | "environments" | "workers" | "tokens" | "records">;
}
