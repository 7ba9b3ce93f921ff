import type { WorkerId } from "@tandem/protocol";

/** A process of the fleet, as of its last heartbeat. */
export interface WorkerRow {
  id: WorkerId;
  /** The same name as in its leases; unique. */
  holder: string;
  role: "all" | "server" | "worker";
  /** Hostname of the machine, because an address such as 127.0.0.1 is meaningless elsewhere. */
  host: string;
  /** Machine whose local folders it reaches. */
  machine: string;
  labels: Record<string, string>;
  /** Tenants it serves; null for all. */
  tenants: string[] | null;
  roots: string[];
  /** Internal address, such as `http://10.0.0.7:4100`; null if it has none. */
  address: string | null;
  /** Tandem's version. */
  version: string;
  /** Newest schema version its code knows. */
  schema: number;
  maxSessions: number;
  /** Leases held now. */
  sessions: number;
  startedAt: string;
  /** By the database's clock. */
  seenAt: string;
  draining: boolean;
  /** Why it takes no work, such as a full disk. Processes of version 0.2.0 do not say it. */
  problem?: string | null;
  /** Whether it has the context of the default tenant's project. Processes of version 0.2.0 do not say it. */
  hasContext?: boolean;
  /** Account that pays for its turns; workers with the same payer share one quota. */
  payer: string | null;
}

/** A worker without a heartbeat for this long counts as dead. Send several heartbeats within it. */
export const WORKER_ALIVE_MS = 15_000;

export interface WorkerStore {
  /** Sends a heartbeat. Host, schema version and time are filled in here. */
  beat(row: Omit<WorkerRow, "host" | "schema" | "seenAt">): Promise<void>;
  /**
   * Living workers and those that died within the last hour, in start order. `silentMs` uses the database's clock, so
   * clock skew between machines does not matter.
   */
  list(): Promise<(WorkerRow & { silentMs: number; alive: boolean })[]>;
  /** The database's clock, in milliseconds since 1970. */
  time(): Promise<number>;
  remove(id: WorkerId): Promise<void>;
}
