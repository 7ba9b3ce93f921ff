/** The machines of a lab. Each is a network namespace with one link to the router. */
export const MACHINES = [
  "client",
  "haproxy",
  "server-1",
  "server-2",
  "worker-1",
  "worker-2",
  "worker-3",
  "postgres",
  "pgbouncer",
] as const;
export type MachineName = (typeof MACHINES)[number];

export const SERVERS = ["server-1", "server-2"] as const satisfies readonly MachineName[];
export const WORKERS = ["worker-1", "worker-2", "worker-3"] as const satisfies readonly MachineName[];
/** They mount the shared volume; the other worker has its private disk only. */
export const VOLUME_WORKERS: readonly [MachineName, ...MachineName[]] = ["worker-1", "worker-2"];

const NETWORK = "10.79";
const FIRST_UID = 61_001;
/** The owner of the files of a test's Postgres. */
const POSTGRES_UID = 65_534;

/** The same in all labs: namespaces of one lab do not reach those of another. */
export const addressOf = (machine: MachineName): string => `${NETWORK}.${MACHINES.indexOf(machine) + 1}.2`;
export const gatewayOf = (machine: MachineName): string => `${NETWORK}.${MACHINES.indexOf(machine) + 1}.1`;
export const NETWORK_RANGE = `${NETWORK}.0.0/16`;

/** Users of a shared volume need the same id, as on NFS. */
export function uidOf(machine: MachineName): number {
  if (machine === "postgres") return POSTGRES_UID;
  return FIRST_UID + MACHINES.indexOf(VOLUME_WORKERS.includes(machine) ? VOLUME_WORKERS[0] : machine);
}
