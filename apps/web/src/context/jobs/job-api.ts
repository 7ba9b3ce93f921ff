import type { EvalReport, Job } from "@tandem/protocol";
import { api } from "../../api/client.ts";

export const startJob = (kind: Job["kind"], params: Record<string, unknown>): Promise<Job> =>
  api.call("jobs.create", { body: { kind, params } });
export const cancelJob = (id: string): Promise<Job> => api.call("jobs.cancel", { params: { job_id: id } });

/** The subject of a job. */
export function subjectOf({ kind, params }: Job): string {
  switch (kind) {
    case "scan":
      return params.connection;
    case "ingest":
      return (params.files ?? params.sources)?.join(", ") ?? params.text ?? kind;
    case "evals":
      if (params.proposal !== undefined) return "with a proposal";
      return params.files.length === 0 ? "all questions" : params.files.join(", ");
    case "memory":
    case "remember":
      return "text" in params ? params.text : "a session";
  }
}

export const isUnderWay = ({ state }: Pick<Job, "state">): boolean => state === "running" || state === "queued";

/** The report of a finished eval run. */
export const reportOf = (job: Job): EvalReport | null => (job.kind === "evals" ? job.result : null);
