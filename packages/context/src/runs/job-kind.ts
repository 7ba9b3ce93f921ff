import type { z } from "zod";
import type { Run } from "./job-run.ts";

/** Parameters and work of a kind of job. */
export interface JobKind {
  params: z.ZodType;
  /** `params` is the parsed value. */
  work(run: Run, params: unknown): Promise<unknown>;
}

/** A job kind with typed params. */
export const jobKind = <P extends z.ZodType>(
  params: P,
  work: (run: Run, params: z.output<P>) => Promise<unknown>,
): JobKind => ({ params, work: (run, given) => work(run, params.parse(given)) });
