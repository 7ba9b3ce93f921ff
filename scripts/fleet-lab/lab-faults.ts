import { setTimeout as sleep } from "node:timers/promises";
import type { ExtraFault } from "@tandem/crash-test";
import type { Lab } from "./lab-system.ts";
import type { LabLinks, Link } from "./lab-links.ts";
import type { LabNetwork } from "./lab-network.ts";
import { type MachineName, SERVERS, VOLUME_WORKERS, WORKERS } from "./lab-machines.ts";
import { hideClaudeCode } from "./hide-claude-code.ts";

type Random = Parameters<ExtraFault["inject"]>[0];
type System = Parameters<ExtraFault["inject"]>[1];

interface LinkKind {
  from: readonly MachineName[];
  to: readonly MachineName[];
  name: string;
}

/** The kinds of links, each with all pairs of machines that have one. PgBouncer passes statements, Postgres notifications. */
const linkKinds = (databases: readonly MachineName[]): Readonly<Record<string, LinkKind>> => ({
  "server-database": { from: SERVERS, to: databases, name: "a server and the database" },
  "worker-database": { from: WORKERS, to: databases, name: "a worker and the database" },
  "server-worker": { from: SERVERS, to: WORKERS, name: "a server and a worker" },
  "client-server": { from: ["haproxy"], to: SERVERS, name: "HAProxy and a server" },
});

const LATENCY_MS = 5_000;
const LOST_SHARE = 0.3;
/** Shorter and longer than a lease. */
const LEAST_MS = 500;
const MOST_MS = 10_000;
const SLOW_MS = 15_000;
const SKEWS_MS = [60_000, -60_000, 0] as const;
const FULL_MS = 6_000;
const DRAIN_MS = 30_000;
const POLL_MS = 100;

/** Faults of machines and links, in addition to those of the crash tests. */
export function labFaults(lab: Lab, network: LabNetwork, links: LabLinks, noDelay: string | undefined): ExtraFault[] {
  return [
    ...Object.entries(linkKinds(lab.databases)).flatMap(([kind, of]) => linkFaults(kind, of, links, noDelay)),
    clockSkew(lab),
    crashOfMachine(lab, network),
    drain(lab),
    scaleDown(),
    fullDisk(lab),
    missingClaudeCode(),
    killDatabase(lab),
  ];
}

function linkFaults(
  kind: string,
  { from, to, name }: LinkKind,
  links: LabLinks,
  noDelay: string | undefined,
): ExtraFault[] {
  const pick = (random: Random): Link => ({ from: one(random, from), to: one(random, to) });
  const back = ({ from: a, to: b }: Link): Link => ({ from: b, to: a, isOneWay: true });
  const during = async (random: Random, most: number, begin: (link: Link) => Promise<AsyncDisposable>) => {
    await using _fault = await begin(pick(random));
    await sleep(random.between(LEAST_MS, most));
  };
  const faults: ExtraFault[] = [
    {
      kind: `cut-${kind}`,
      description: `no packet passes between ${name} for up to ten seconds`,
      inject: (random) => during(random, MOST_MS, (link) => links.cut(link)),
    },
    {
      kind: `one-way-${kind}`,
      description: `packets pass between ${name} in one direction only for up to ten seconds`,
      inject: (random) =>
        during(random, MOST_MS, (link) => links.cut(random.next() < 0.5 ? { ...link, isOneWay: true } : back(link))),
    },
    {
      kind: `lossy-${kind}`,
      description: `a third of the packets between ${name} is lost for up to ten seconds`,
      inject: (random) => during(random, MOST_MS, (link) => links.lose(link, LOST_SHARE)),
    },
  ];
  if (noDelay !== undefined) return faults;
  return [
    ...faults,
    {
      kind: `slow-${kind}`,
      description: `packets between ${name} take five seconds for up to 15 seconds`,
      // A round trip of five seconds.
      inject: (random) => during(random, SLOW_MS, (link) => links.delay(link, LATENCY_MS / 2)),
    },
  ];
}

const clockSkew = ({ clocks }: Lab): ExtraFault => ({
  kind: "clock-skew",
  description: "the clock of one machine is a minute off from now on",
  inject: async (random) => {
    await clocks.get(one(random, [...clocks.keys()]))?.moveTo(random.pick(SKEWS_MS));
  },
});

/** All processes of the machine end in the same moment, guardians included. */
const crashOfMachine = ({ boots }: Lab, network: LabNetwork): ExtraFault => ({
  kind: "crash-machine",
  description: "a worker's machine loses its power, and starts again",
  inject: async (random, system) => {
    const machine = one(random, WORKERS);
    await network.killAll(machine);
    await boots.get(machine)?.renew();
    await sleep(random.between(0, MOST_MS));
    await restart(system, machine);
  },
});

const drain = ({ plan }: Lab): ExtraFault => ({
  kind: "drain-worker",
  description: "a worker is drained by request, exits, and starts again",
  inject: async (random, system) => {
    const machine = one(random, WORKERS);
    const headers = { "x-api-key": plan.apiKey(), "content-type": "application/json" };
    const response = await fetch(`${plan.url}/v1/fleet`, { headers, signal: AbortSignal.timeout(10_000) });
    const { workers } = (await response.json()) as { workers: { id: string; machine: string; state: string }[] };
    const worker = workers.find((row) => row.machine === machine && row.state === "live");
    if (!worker) return;
    const path = `${plan.url}/v1/fleet/workers/${worker.id}/drain`;
    await fetch(path, { method: "POST", headers, body: "{}", signal: AbortSignal.timeout(10_000) });
    const pidOf = () => system.processes.find(({ name }) => name === machine)?.pid;
    const before = pidOf();
    // It exits by itself, and the system starts it again.
    for (let waitedMs = 0; pidOf() === before && waitedMs < DRAIN_MS; waitedMs += POLL_MS) await sleep(POLL_MS);
  },
});

const scaleDown = (): ExtraFault => ({
  kind: "scale-workers",
  description: "a worker is stopped and missing for up to ten seconds, then one is added",
  inject: async (random, system) => {
    const machine = one(random, WORKERS);
    await system.processes.find(({ name }) => name === machine)?.stop();
    await sleep(random.between(0, MOST_MS));
    await restart(system, machine);
  },
});

const fullDisk = ({ disks }: Lab): ExtraFault => ({
  kind: "full-disk-of-worker",
  description: "the disk of a worker is full for up to six seconds",
  inject: async (random) => {
    const disk = disks.get(one(random, WORKERS));
    if (disk === undefined || typeof disk === "string") return;
    try {
      await disk.fill();
      await sleep(random.between(LEAST_MS, FULL_MS));
    } finally {
      await disk.free();
    }
  },
});

const missingClaudeCode = (): ExtraFault => ({
  kind: "missing-claude-code",
  description: "Claude Code is missing on a worker for up to six seconds",
  inject: async (random, system) => {
    const { pid } = system.processes.find(({ name }) => name === one(random, VOLUME_WORKERS)) ?? {};
    if (pid === undefined) return;
    await using _hidden = await hideClaudeCode(pid);
    await sleep(random.between(LEAST_MS, FULL_MS));
  },
});

const killDatabase = ({ database: { postgres } }: Lab): ExtraFault => ({
  kind: "kill-database",
  description: "kill -9 of the database, then a restart",
  inject: async (random) => {
    await postgres.kill();
    await sleep(random.between(0, 1_500));
    await postgres.start();
  },
});

async function restart(system: System, machine: MachineName): Promise<void> {
  const process = system.processes.find(({ name }) => name === machine);
  if (!process) return;
  // After a crash, the system has started it already.
  if (process.pid === undefined) process.launch();
  await system.ready(process);
}

const one = <T>(random: Random, values: readonly T[]): T => values[random.between(0, values.length - 1)]!;
