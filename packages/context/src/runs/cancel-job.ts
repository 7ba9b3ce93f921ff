import { RequestError, type JobId } from "@tandem/protocol";
import type { JobRow, JobStore } from "@tandem/storage";
import { setTimeout as delay } from "node:timers/promises";
import { ended } from "./run-job.ts";

/** Long enough for one write. */
const LEASE_MS = 5_000;
const LOOK_MS = 250;

/**
 * Requests the cancellation of a job, and ends it here if no worker holds it. The request is stored, so the next worker
 * that takes the job ends it. Returns the current job.
 */
export async function cancelJob(jobs: JobStore, id: JobId, holder: string): Promise<JobRow> {
  if (!(await jobs.requestCancel(id))) {
    const row = await jobs.get(id);
    if (!row) throw new RequestError("not_found", `There is no job ${id}.`);
    throw new RequestError("conflict", `The job ${id} has ended already: it is ${row.state}.`);
  }
  await endIfLeft(jobs, id, holder);
  const row = await jobs.get(id);
  if (row) return row;
  throw new RequestError("not_found", `The job ${id} was deleted meanwhile.`);
}

/**
 * Waits until a cancelled job has ended: by its worker, or here once a dead worker's lease has expired. Undefined if
 * the signal fires first or the job was deleted.
 */
export async function awaitCancelled(
  jobs: JobStore,
  id: JobId,
  holder: string,
  signal: AbortSignal,
): Promise<JobRow | undefined> {
  while (!signal.aborted) {
    await endIfLeft(jobs, id, holder);
    const row = await jobs.get(id);
    if (row?.endedAt !== null) return row;
    await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
  }
  return undefined;
}

/** Ends jobs that were cancelled while no worker held them. */
export async function endCancelled(jobs: JobStore, space: string, holder: string): Promise<void> {
  for (const { id, cancelRequested } of await jobs.waiting(space)) {
    if (cancelRequested) await endIfLeft(jobs, id, holder);
  }
}

async function endIfLeft(jobs: JobStore, id: JobId, holder: string): Promise<void> {
  const lease = await jobs.take(id, holder, LEASE_MS).catch((error: unknown) => {
    if (error instanceof RequestError && error.code === "not_found") return undefined;
    throw error;
  });
  if (!lease) return;
  await jobs.write(lease, [{ type: "ended", state: "cancelled", message: null }], ended("cancelled"));
  await jobs.release(lease);
}
