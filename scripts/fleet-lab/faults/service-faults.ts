import { setTimeout as sleep } from "node:timers/promises";
import type { ExtraFault } from "@tandem/crash-test";
import type { LabService } from "../lab-service.ts";
import { type FaultSettings, LEAST_MS, MOST_LEASES, SILENT_MS, upTo } from "./fault-settings.ts";

/** Faults of the programs around Tandem: Postgres, PgBouncer and HAProxy. */
export function serviceFaults(settings: FaultSettings): ExtraFault[] {
  const { haproxy, pgbouncer } = settings.lab;
  return [
    killDatabase(settings),
    vanishedDatabase(settings),
    // Only clients need it.
    { ...killService("haproxy", haproxy, settings), sparesTurns: true },
    ...(pgbouncer ? [killService("pgbouncer", pgbouncer, settings)] : []),
  ];
}

const killService = (name: string, service: LabService, { leaseMs }: FaultSettings): ExtraFault => ({
  kind: `kill-${name}`,
  description: `kill -9 of ${name}, then a restart after ${upTo(MOST_LEASES * leaseMs)}`,
  inject: async (random) => {
    await service.kill();
    try {
      await sleep(random.between(LEAST_MS, MOST_LEASES * leaseMs));
    } finally {
      await service.start();
    }
    return true;
  },
});

const killDatabase = ({ lab: { database } }: FaultSettings): ExtraFault => ({
  kind: "kill-database",
  description: "kill -9 of the database, then a restart",
  inject: async (random) => {
    await database.postgres.kill();
    await sleep(random.between(0, 1_500));
    await database.postgres.start();
    return true;
  },
});

/** Nothing closes the connections: all processes must notice by themselves that the database is gone. */
const vanishedDatabase = ({ lab: { database }, links, leaseMs }: FaultSettings): ExtraFault => ({
  kind: "vanish-database",
  description: `the database's machine vanishes from the network, dies, and starts again after ${upTo(MOST_LEASES * leaseMs)}`,
  inject: async (random) => {
    await using cut = await links.isolate("postgres");
    await sleep(random.between(0, SILENT_MS));
    await database.postgres.kill();
    await sleep(random.between(LEAST_MS, MOST_LEASES * leaseMs));
    await database.postgres.start();
    return (await cut.met()) > 0;
  },
});
