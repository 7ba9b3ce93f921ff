import type { WorkerId } from "@tandem/protocol";

/** A process of the fleet, as it last described itself. */
export interface WorkerRow {
  id: WorkerId;
  /** In the same words as in its leases; no two have the same. */
  holder: string;
  role: "all" | "server" | "worker";
  /** The operating system's own word for where it runs: an address such as 127.0.0.1 means nothing elsewhere. */
  host: string;
  /** Where folders are that are on no shared volume. */
  machine: string;
  labels: Record<string, string>;
  /** Whose sessions it takes; null for everybody's. */
  tenants: string[] | null;
  roots: string[];
  /** Its inner door, such as `http://10.0.0.7:4100`; null if it has none. */
  address: string | null;
  /** Of Tandem. */
  version: string;
  /** The newest schema that its code knows. */
  schema: number;
  maxSessions: number;
  /** Held now. */
  sessions: number;
  startedAt: string;
  /** By the database's clock. */
  seenAt: string;
  draining: boolean;
  /** Who pays for its turns: what shares one quota has one payer. */
  payer: string | null;
}

/** One that was silent for longer than this is taken for dead. Beat several times in it. */
export const WORKER_ALIVE_MS = 15_000;

export interface WorkerStore {
  /** Says that it lives, and how it is. When, where, and which schema it knows, is filled in here. */
  beat(row: Omit<WorkerRow, "host" | "schema" | "seenAt">): Promise<void>;
  /**
   * Those that live, and those that died in the last hour; in the order in which they started. `silentMs` is by the clock
   * of the database, as leases are: no machine's own clock matters.
   */
  list(): Promise<(WorkerRow & { silentMs: number; alive: boolean })[]>;
  remove(id: WorkerId): Promise<void>;
}
