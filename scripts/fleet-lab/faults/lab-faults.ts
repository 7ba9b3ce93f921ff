import { setTimeout as sleep } from "node:timers/promises";
import type { ExtraFault } from "@tandem/crash-test";
import type { Lab } from "../lab-system.ts";
import { type MachineName, SERVERS, VOLUME_WORKERS, WORKERS } from "../lab-machines.ts";
import {
  type FaultSettings,
  LEAST_MS,
  MOST_LEASES,
  one,
  type Random,
  restart,
  SILENT_MS,
  upTo,
} from "./fault-settings.ts";
import { hideClaudeCode } from "./hide-claude-code.ts";
import { linkFaults } from "./link-faults.ts";
import { pickWorker } from "./pick-worker.ts";
import { powerOff, vanish } from "./power-off.ts";
import { serviceFaults } from "./service-faults.ts";

const SKEWS_MS = [60_000, -60_000, 0] as const;
const OFF_LEASES = 2;
const FULL_MS = 6_000;
const DRAIN_MS = 30_000;
const POLL_MS = 100;

/** Faults of machines and links, in addition to those of the crash tests. */
export function labFaults(settings: FaultSettings): ExtraFault[] {
  const { lab } = settings;
  return [
    ...linkFaults(settings),
    ...serviceFaults(settings),
    clockSkew(lab),
    crashOfMachine(settings),
    vanishedMachine("server", async (random) => one(random, SERVERS), settings),
    vanishedMachine("worker", (random) => pickWorker(random, lab.database), settings),
    drain(lab),
    scaleDown(settings),
    fullDisk(lab),
    missingClaudeCode(),
  ];
}

const clockSkew = ({ clocks }: Lab): ExtraFault => ({
  kind: "clock-skew",
  description: "the clock of one machine is a minute off from now on, or right again",
  sparesTurns: true,
  inject: async (random) => (await clocks.get(one(random, [...clocks.keys()]))?.moveTo(random.pick(SKEWS_MS))) ?? false,
});

const crashOfMachine = ({ lab, network, leaseMs }: FaultSettings): ExtraFault => ({
  kind: "crash-machine",
  description: `a worker's machine loses its power, and starts again after ${upTo(OFF_LEASES * leaseMs)}`,
  inject: async (random, system) => {
    const machine = await pickWorker(random, lab.database);
    const isHit = await powerOff({ lab, network, system }, machine);
    await sleep(random.between(0, OFF_LEASES * leaseMs));
    await restart(system, machine);
    return isHit;
  },
});

/** Nothing closes the connections: their other ends must notice by themselves that the machine is gone. */
const vanishedMachine = (
  role: "server" | "worker",
  pick: (random: Random) => Promise<MachineName>,
  { lab, network, links, leaseMs }: FaultSettings,
): ExtraFault => ({
  kind: `vanish-${role}`,
  description: `a ${role}'s machine vanishes from the network, dies, and starts again after ${upTo(MOST_LEASES * leaseMs)}`,
  // Servers run no turns.
  sparesTurns: role === "server",
  inject: async (random, system) => {
    const machine = await pick(random);
    const isHit = await vanish({ lab, network, links, system }, machine, random.between(0, SILENT_MS), () =>
      sleep(random.between(LEAST_MS, MOST_LEASES * leaseMs)),
    );
    await restart(system, machine);
    return isHit;
  },
});

const drain = ({ plan, database }: Lab): ExtraFault => ({
  kind: "drain-worker",
  description: "a worker is drained by request, exits, and starts again",
  inject: async (random, system) => {
    const machine = await pickWorker(random, database);
    const headers = { "x-api-key": plan.apiKey(), "content-type": "application/json" };
    const response = await fetch(`${plan.url}/v1/fleet`, { headers, signal: AbortSignal.timeout(10_000) });
    const { workers } = (await response.json()) as { workers: { id: string; machine: string; state: string }[] };
    const worker = workers.find((row) => row.machine === machine && row.state === "live");
    if (!worker) return false;
    const path = `${plan.url}/v1/fleet/workers/${worker.id}/drain`;
    await fetch(path, { method: "POST", headers, body: "{}", signal: AbortSignal.timeout(10_000) });
    const pidOf = () => system.processes.find(({ name }) => name === machine)?.pid;
    const before = pidOf();
    // It exits by itself, and the system starts it again.
    for (let waitedMs = 0; pidOf() === before && waitedMs < DRAIN_MS; waitedMs += POLL_MS) await sleep(POLL_MS);
    return pidOf() !== before;
  },
});

const scaleDown = ({ lab, leaseMs }: FaultSettings): ExtraFault => ({
  kind: "scale-workers",
  description: `a worker is stopped and missing for ${upTo(OFF_LEASES * leaseMs)}, then one is added`,
  inject: async (random, system) => {
    const machine = await pickWorker(random, lab.database);
    await system.processes.find(({ name }) => name === machine)?.stop();
    await sleep(random.between(0, OFF_LEASES * leaseMs));
    await restart(system, machine);
    return true;
  },
});

const fullDisk = ({ disks }: Lab): ExtraFault => ({
  kind: "full-disk-of-worker",
  description: "the disk of a worker is full for up to six seconds",
  inject: async (random) => {
    const disk = disks.get(one(random, WORKERS));
    if (disk === undefined || typeof disk === "string") return false;
    try {
      await disk.fill();
      await sleep(random.between(LEAST_MS, FULL_MS));
    } finally {
      await disk.free();
    }
    return true;
  },
});

const missingClaudeCode = (): ExtraFault => ({
  kind: "missing-claude-code",
  description: "Claude Code is missing on a worker for up to six seconds",
  inject: async (random, system) => {
    const machine = one(random, VOLUME_WORKERS);
    const { pid } = system.processes.find(({ name }) => name === machine) ?? {};
    if (pid === undefined) return false;
    await using _hidden = await hideClaudeCode(pid);
    await sleep(random.between(LEAST_MS, FULL_MS));
    return true;
  },
});
