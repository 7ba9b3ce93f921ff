import { EVAL_ARMS, type JobParams } from "@tandem/protocol";
import { z } from "zod";

export const evalParams = z.strictObject({
  /** Names of files; all by default. */
  files: z.array(z.string().min(1)).default([]),
  tags: z.array(z.string().min(1)).default([]),
  arms: z.array(z.enum(EVAL_ARMS)).min(1).default(["metrics"]),
  trials: z.int().min(1).max(20).optional(),
  /** False: only the parts without a model. */
  ask: z.boolean().default(true),
  /** Compares the context without this proposal and with it. */
  proposal: z.string().min(1).optional(),
}) satisfies z.ZodType<JobParams["evals"]>;
export type EvalParams = z.output<typeof evalParams>;
