import type { ExtraFault } from "@tandem/crash-test";
import type { Lab } from "../lab-system.ts";
import type { MachineName } from "../lab-machines.ts";
import type { LabNetwork } from "../lab-network.ts";
import type { LabLinks } from "./lab-links.ts";

export type Random = Parameters<ExtraFault["inject"]>[0];
export type System = Parameters<ExtraFault["inject"]>[1];

export interface FaultSettings {
  lab: Lab;
  network: LabNetwork;
  links: LabLinks;
  leaseMs: number;
  /** Why links cannot be delayed here. */
  noDelay: string | undefined;
}

/** Faults of links and services last from this time to a multiple of the lease. */
export const LEAST_MS = 500;
export const MOST_LEASES = 3;
/** From the first lost packet of a machine to the end of its processes. */
export const SILENT_MS = 1_500;

/** For descriptions. */
export const upTo = (ms: number): string => `up to ${Math.round(ms / 1_000)} s`;

export async function restart(system: System, machine: MachineName): Promise<void> {
  const process = system.processes.find(({ name }) => name === machine);
  if (!process) return;
  if (process.pid === undefined) process.launch();
  await system.ready(process);
}

export const one = <T>(random: Random, values: readonly T[]): T => values[random.between(0, values.length - 1)]!;
