import { queryPostgres } from "@tandem/storage/testing";
import type { LabPostgres } from "../lab-postgres.ts";
import { type MachineName, WORKERS } from "../lab-machines.ts";

const HELD = "select distinct lease_holder from tandem.log join tandem.session on session.id = log.session";

/** The workers that run a turn now. */
export async function busyWorkers({ socketUrl }: Pick<LabPostgres, "socketUrl">): Promise<MachineName[]> {
  const rows = await queryPostgres(socketUrl, `${HELD} where lease_holder is not null and status = 'running'`);
  const holders = rows.map((row) => String(row["lease_holder"]));
  return WORKERS.filter((machine) => holders.some((holder) => holder.includes(` on ${machine}`)));
}
