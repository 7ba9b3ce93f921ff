import { setTimeout as sleep } from "node:timers/promises";
import type { TestedSystem } from "@tandem/crash-test";
import type { LabLinks } from "./lab-links.ts";
import type { MachineName } from "../lab-machines.ts";
import type { LabNetwork } from "../lab-network.ts";
import type { Lab } from "../lab-system.ts";

interface PoweredLab {
  lab: Pick<Lab, "boots">;
  network: LabNetwork;
  system: TestedSystem;
}

const END_MS = 5_000;

/**
 * A machine loses its power: all its processes end in the same moment, guardians included. It stays off until its process is
 * launched. Returns false if no process was running.
 */
export async function powerOff({ lab, network, system }: PoweredLab, machine: MachineName): Promise<boolean> {
  const process = system.processes.find(({ name }) => name === machine);
  const hasEnded = await process?.endsBy(async () => {
    await network.killAll(machine);
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }, END_MS);
  await lab.boots.get(machine)?.renew();
  return hasEnded === true;
}

/**
 * The machine loses its network before its power, so that no kernel closes its connections. It stays unreachable while
 * `meanwhile` runs, and off until its process is launched.
 */
export async function vanish(
  powered: PoweredLab & { links: LabLinks },
  machine: MachineName,
  silentMs: number,
  meanwhile: () => Promise<unknown>,
): Promise<boolean> {
  await using cut = await powered.links.isolate(machine);
  await sleep(silentMs);
  const isHit = await powerOff(powered, machine);
  await meanwhile();
  return isHit && (await cut.met()) > 0;
}
