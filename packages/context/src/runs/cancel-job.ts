import { RequestError, type JobId } from "@tandem/protocol";
import type { JobRow, JobStore } from "@tandem/storage";
import { ended } from "./claim-job.ts";

/** Long enough to write one line. */
const LEASE_MS = 5_000;

/** Asks whoever works on a job to stop; one that nobody works on is ended here. Returns the job as it is then. */
export async function cancelJob(jobs: JobStore, id: JobId, holder: string): Promise<JobRow> {
  if (!(await jobs.requestCancel(id))) {
    const row = await jobs.get(id);
    if (!row) throw new RequestError("not_found", `There is no job ${id}.`);
    throw new RequestError("conflict", `The job ${id} has ended already: it is ${row.state}.`);
  }
  const lease = await jobs.take(id, holder, LEASE_MS);
  if (lease) {
    await jobs.write(lease, [{ type: "ended", state: "cancelled", message: null }], ended("cancelled"));
    await jobs.release(lease);
  }
  const row = await jobs.get(id);
  if (row) return row;
  throw new RequestError("not_found", `The job ${id} was deleted meanwhile.`);
}
