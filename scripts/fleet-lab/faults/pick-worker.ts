import { type MachineName, WORKERS } from "../lab-machines.ts";
import type { LabPostgres } from "../lab-postgres.ts";
import { busyWorkers } from "./busy-workers.ts";
import { one, type Random } from "./fault-settings.ts";

const BUSY_SHARE = 0.8;

/** Mostly a worker that runs a turn: the death of an idle one tests little. */
export async function pickWorker(random: Random, database: Pick<LabPostgres, "socketUrl">): Promise<MachineName> {
  const busy = await busyWorkers(database);
  return one(random, busy.length > 0 && random.next() < BUSY_SHARE ? busy : WORKERS);
}
