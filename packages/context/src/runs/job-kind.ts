import type { z } from "zod";
import type { Run } from "./job-run.ts";
import type { Budget } from "./metered-llm.ts";

/** Parameters and work of a kind of job. */
export interface JobKind {
  params: z.ZodType;
  /** `params` is the parsed value. */
  work(run: Run, params: unknown): Promise<unknown>;
  /** Where a running job stops to ask models; undefined: at the worker's own limit. */
  budgetOf?(params: unknown): Budget | undefined;
}

/** A job kind with typed params. */
export const jobKind = <P extends z.ZodType>(
  params: P,
  work: (run: Run, params: z.output<P>) => Promise<unknown>,
  budgetOf?: (params: z.output<P>) => Budget | undefined,
): JobKind => ({
  params,
  work: (run, given) => work(run, params.parse(given)),
  ...(budgetOf && { budgetOf: (given) => budgetOf(params.parse(given)) }),
});
