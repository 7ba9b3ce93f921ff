import { setTimeout as sleep } from "node:timers/promises";
import type { ExtraFault } from "@tandem/crash-test";
import { type MachineName, SERVERS, WORKERS } from "../lab-machines.ts";
import { type FaultSettings, LEAST_MS, MOST_LEASES, one, type Random, upTo } from "./fault-settings.ts";
import type { Link, LinkFault } from "./lab-links.ts";
import { pickWorker } from "./pick-worker.ts";

interface LinkKind {
  kind: string;
  name: string;
  pick: (random: Random) => Promise<Link>;
  /** Turns need only their worker, the database and the model: without another link, none of them may fail. */
  sparesTurns: boolean;
}

const LATENCY_MS = 5_000;
const LOST_SHARE = 0.3;

/** Links that are cut whole or in one direction, lose packets or delay them. */
export function linkFaults(settings: FaultSettings): ExtraFault[] {
  const { databases } = settings.lab;
  return [
    ...linkKinds(settings).flatMap((kind) => faultsOf(kind, settings)),
    ...(databases.length > 1 ? [cutFromDatabases(settings)] : []),
  ];
}

/** The kinds of links. PgBouncer passes statements, Postgres notifications. */
function linkKinds({ lab: { databases, database } }: FaultSettings): LinkKind[] {
  const between = (from: readonly MachineName[], to: readonly MachineName[]) => async (random: Random) => ({
    from: one(random, from),
    to: one(random, to),
  });
  return [
    {
      kind: "client-haproxy",
      name: "the clients and HAProxy",
      pick: between(["client"], ["haproxy"]),
      sparesTurns: true,
    },
    { kind: "haproxy-server", name: "HAProxy and a server", pick: between(["haproxy"], SERVERS), sparesTurns: true },
    { kind: "server-worker", name: "a server and a worker", pick: between(SERVERS, WORKERS), sparesTurns: true },
    {
      kind: "server-database",
      name: "a server and the database",
      pick: between(SERVERS, databases),
      sparesTurns: true,
    },
    {
      kind: "worker-database",
      name: "a worker and the database",
      pick: async (random) => ({ from: await pickWorker(random, database), to: one(random, databases) }),
      // Without the database, a worker loses its leases: another one continues its turns, without the results of running calls.
      sparesTurns: false,
    },
  ];
}

function faultsOf({ kind, name, pick, sparesTurns }: LinkKind, settings: FaultSettings): ExtraFault[] {
  const { links, leaseMs, noDelay } = settings;
  const oneWay = async (random: Random): Promise<Link> => {
    const link = await pick(random);
    return { ...(random.next() < 0.5 ? link : { from: link.to, to: link.from }), isOneWay: true };
  };
  const time = `for ${upTo(MOST_LEASES * leaseMs)}`;
  const faults: ExtraFault[] = [
    {
      kind: `cut-${kind}`,
      description: `no packet passes between ${name} ${time}`,
      sparesTurns,
      inject: async (random) => during(settings, random, await links.cut(await pick(random))),
    },
    {
      kind: `one-way-${kind}`,
      description: `packets pass between ${name} in one direction only ${time}`,
      sparesTurns,
      inject: async (random) => during(settings, random, await links.cut(await oneWay(random))),
    },
    {
      kind: `lossy-${kind}`,
      description: `a third of the packets between ${name} is lost ${time}`,
      sparesTurns,
      inject: async (random) => during(settings, random, await links.lose(await pick(random), LOST_SHARE)),
    },
  ];
  if (noDelay !== undefined) return faults;
  const delays = [
    async (random: Random) => links.delay(await pick(random), LATENCY_MS / 2),
    async (random: Random) => links.delay(await pick(random), LATENCY_MS),
    async (random: Random) => links.delay(await oneWay(random), LATENCY_MS),
  ] as const;
  return [
    ...faults,
    {
      kind: `slow-${kind}`,
      description: `packets between ${name} take five seconds there and back, each way or one way ${time}`,
      sparesTurns,
      inject: async (random) => during(settings, random, await random.pick(delays)(random)),
    },
  ];
}

/** The worker reaches neither address of the database, but all other machines. */
function cutFromDatabases(settings: FaultSettings): ExtraFault {
  const { lab, links, leaseMs } = settings;
  return {
    kind: "cut-worker-databases",
    description: `no packet passes between a worker and both Postgres and PgBouncer for ${upTo(MOST_LEASES * leaseMs)}`,
    inject: async (random) => {
      const from = await pickWorker(random, lab.database);
      await using parts = new AsyncDisposableStack();
      const faults: LinkFault[] = [];
      for (const to of lab.databases) faults.push(parts.use(await links.cut({ from, to })));
      await sleep(random.between(LEAST_MS, MOST_LEASES * leaseMs));
      const met = await Promise.all(faults.map((fault) => fault.met()));
      return met.every((packets) => packets > 0);
    },
  };
}

/** Whether the fault has met a packet by its end. */
async function during({ leaseMs }: FaultSettings, random: Random, begun: LinkFault): Promise<boolean> {
  await using fault = begun;
  await sleep(random.between(LEAST_MS, MOST_LEASES * leaseMs));
  return (await fault.met()) > 0;
}
