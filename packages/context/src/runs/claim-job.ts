import { newId, RequestError, type JobId } from "@tandem/protocol";
import { type JobLease, type JobRow, type Store } from "@tandem/storage";
import { z } from "zod";
import { canonicalJson } from "../canonical-json.ts";

const KIND = "running";
const running = z.object({ job: z.string() });

export interface JobWanted {
  store: Store;
  /** Id of the context. */
  space: string;
  kind: string;
  params: unknown;
  /** Description of the worker: `tandem scan on host (pid 7)`. */
  holder: string;
}

export interface Claim {
  job: JobId;
  lease: JobLease;
  /** An earlier worker started it and did not finish. */
  resumed: boolean;
}

/** Resumes an unfinished job of the same kind and params, or starts one. Only one job of a kind runs per space. */
export async function claimJob(wanted: JobWanted, leaseMs: number): Promise<Claim> {
  const { store, space, kind, params, holder } = wanted;
  // Check for a running job first. If its lease expired only after listing the unfinished jobs, a second job would
  // start and the first would stay unfinished.
  await findRunning(wanted);
  const same = canonicalJson(params);
  const left = (await store.jobs.waiting(space)).filter(
    (job) => job.kind === kind && canonicalJson(job.params) === same,
  );
  for (const job of left.toReversed()) {
    const lease = await store.jobs.take(job.id, holder, leaseMs);
    if (!lease) continue;
    await refuseSecond(wanted, lease, () => store.jobs.release(lease));
    if (!job.cancelRequested) return { job: job.id, lease, resumed: job.startedAt !== null };
    // It was cancelled while no worker held it.
    await store.jobs.write(lease, [{ type: "ended", state: "cancelled", message: null }], ended("cancelled"));
    await store.jobs.release(lease);
  }
  const row = newJob(wanted);
  await store.jobs.create(row);
  const lease = await store.jobs.take(row.id, holder, leaseMs);
  if (!lease) throw new RequestError("conflict", `Another process has taken the job ${row.id} at once.`);
  await refuseSecond(wanted, lease, async () => {
    await store.jobs.release(lease);
    await store.jobs.delete(row.id);
  });
  return { job: row.id, lease, resumed: false };
}

/** The record of the running job of a kind. Rejects if a living worker holds that job. */
async function findRunning({ store, space, kind }: JobWanted, ours?: JobId): Promise<{ version: number } | undefined> {
  const stored = await store.records.get(space, KIND, kind);
  const other = stored && running.parse(stored.value).job;
  const held = other === undefined || other === ours ? undefined : await store.jobs.holder(other as JobId);
  // A job that has ended may hold its lease a moment longer.
  if (!held || (await store.jobs.get(other!))?.endedAt !== null) return stored;
  throw new RequestError("conflict", `Another ${kind} is under way here: ${held.holder} works on ${other}.`, {
    fix: `Wait until it is done, or cancel it: tandem jobs cancel ${other}. If that process is no more, try again in ${seconds(held.expiresAt)} s.`,
  });
}

/** Mutual exclusion by compare-and-swap on the kind's record: a worker that finds a living one there must not run. */
async function refuseSecond(wanted: JobWanted, lease: JobLease, giveUp: () => Promise<void>): Promise<void> {
  const { store, space, kind } = wanted;
  try {
    for (;;) {
      const stored = await findRunning(wanted, lease.job);
      const change = {
        type: "put" as const,
        kind: KIND,
        key: kind,
        value: { job: lease.job },
        version: stored?.version ?? 0,
      };
      const isWritten = await store.records.write(space, [change]).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RequestError && error.code === "conflict") return false;
          throw error;
        },
      );
      if (isWritten) return;
    }
  } catch (error) {
    await giveUp();
    throw error;
  }
}

function newJob({ space, kind, params }: JobWanted): JobRow {
  return {
    ...{ id: newId("job"), space, kind, params, state: "queued", progress: null, result: null, error: null },
    ...{ cancelRequested: false, createdAt: new Date().toISOString(), startedAt: null, endedAt: null },
  };
}

export type EndState = Exclude<JobRow["state"], "queued" | "running" | "interrupted">;

export const ended = (state: EndState): { state: EndState; endedAt: string } => ({
  state,
  endedAt: new Date().toISOString(),
});

const seconds = (until: string): number => Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1_000));
