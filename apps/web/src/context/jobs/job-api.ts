import type { Job as AnyJob, RunEvent } from "@tandem/protocol";
import { api } from "../../api/client.ts";

export type { RunEvent };
export type JobState = AnyJob["state"];

/** A job of this project: the contract leaves params, progress and result to the kind of job. */
export interface Job extends Omit<AnyJob, "params" | "progress" | "result"> {
  params: Record<string, unknown> | null;
  progress: Progress | null;
  result: Record<string, unknown> | null;
}

interface Progress {
  stage: string | null;
  done: number;
  total: number | null;
  item: string | null;
  skipped: number;
  spent?: { requests: number; cached: number; usd: number | null };
}

/** Every kind of job here has params, progress and result of these forms. */
export const asJob = (job: AnyJob): Job => job as Job;

export const startJob = async (kind: string, params: Record<string, unknown>): Promise<Job> =>
  asJob(await api.call("jobs.create", { body: { kind, params } }));
export const cancelJob = async (id: string): Promise<Job> =>
  asJob(await api.call("jobs.cancel", { params: { job_id: id } }));

/** The subject of a job. */
export function subjectOf({ kind, params }: Pick<Job, "kind" | "params">): string {
  const { connection, sources, session, text, proposal, files } = params ?? {};
  if (typeof proposal === "string") return "with a proposal";
  if (Array.isArray(files)) return files.length === 0 ? "all questions" : files.join(", ");
  if (typeof connection === "string") return connection;
  if (Array.isArray(sources)) return sources.join(", ");
  if (typeof session === "string") return "a session";
  return typeof text === "string" ? text : kind;
}

export const isUnderWay = ({ state }: Pick<Job, "state">): boolean => state === "running" || state === "queued";
