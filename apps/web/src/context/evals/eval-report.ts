import type { EvalReport } from "@tandem/protocol";
import type { Job } from "../jobs/job-api.ts";

/** The report of a finished eval run. The contract leaves a job's result to its kind. */
export const reportOf = ({ kind, result }: Pick<Job, "kind" | "result">): EvalReport | undefined =>
  kind === "evals" && isReport(result) ? result : undefined;

const isReport = (result: unknown): result is EvalReport =>
  typeof result === "object" && result !== null && "checks" in result && "comparison" in result;
