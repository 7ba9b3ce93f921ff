import { newId, RequestError } from "@tandem/protocol";
import type { HeldJob, JobRow, JobStore } from "@tandem/storage";
import { canonicalJson } from "@tandem/protocol";

export interface WantedJob {
  /** Id of the context. */
  space: string;
  kind: string;
  params: unknown;
}

/** The newest unfinished job with this kind and these params that no worker holds, or a new one. */
export async function findOrCreateJob(jobs: JobStore, wanted: WantedJob): Promise<{ job: JobRow; isNew: boolean }> {
  const same = canonicalJson(wanted.params);
  const left = (await jobs.waiting(wanted.space)).findLast(
    (job) => job.kind === wanted.kind && !job.cancelRequested && canonicalJson(job.params) === same,
  );
  if (left) return { job: left, isNew: false };
  const job = newJob(wanted);
  await jobs.create(job);
  return { job, isNew: true };
}

export const anotherRuns = (kind: string, { id, holder, expiresAt }: HeldJob): RequestError =>
  new RequestError("conflict", `Another ${kind} is under way here: ${holder} works on ${id}.`, {
    fix: `Wait until it is done, or cancel it: tandem context jobs cancel ${id}. If that process is no more, try again in ${seconds(expiresAt)} s.`,
  });

const seconds = (until: string): number => Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1_000));

function newJob({ space, kind, params }: WantedJob): JobRow {
  return {
    id: newId("job"),
    space,
    kind,
    params,
    state: "queued",
    progress: null,
    result: null,
    error: null,
    cancelRequested: false,
    createdAt: new Date().toISOString(),
    startedAt: null,
    endedAt: null,
  };
}
