import { z } from "zod";

/** `pending`: not begun; `running`: the agent works; `evaluating`: the grader works. The others end the outcome. */
export const OUTCOME_RESULTS = [
  "pending",
  "running",
  "evaluating",
  "satisfied",
  "max_iterations_reached",
  "failed",
  "interrupted",
] as const;

/** The state of an outcome that a client defined. */
export const outcomeEvaluation = z
  .object({
    type: z.literal("outcome_evaluation"),
    outcome_id: z.string(),
    description: z.string(),
    result: z.enum(OUTCOME_RESULTS),
    /** The last verdict of the grader, in words. */
    explanation: z.string().nullable(),
    /** 0 until the first evaluation has ended. */
    iteration: z.int(),
    completed_at: z.string().nullable(),
  })
  .meta({ id: "OutcomeEvaluation" });
export type OutcomeEvaluation = z.infer<typeof outcomeEvaluation>;
