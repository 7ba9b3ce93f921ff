import { z } from "zod";
import { described, event, eventId } from "./event-schema.ts";
import { modelUsage } from "./model-usage.ts";

// Outcomes: a client describes a deliverable and a rubric; a grader evaluates each attempt until one is satisfied.

const evaluation = {
  outcome_id: z.string(),
  iteration: described("0 for the first evaluation.", z.int()),
};

export const outcomeEvents = {
  ...event("span.outcome_evaluation_start", "The grader starts to evaluate an attempt.", evaluation),
  ...event("span.outcome_evaluation_ongoing", "The grader still evaluates.", evaluation),
  ...event("span.outcome_evaluation_end", "The verdict of the grader.", {
    ...evaluation,
    outcome_evaluation_start_id: described(
      "Empty if the outcome was interrupted before its first evaluation.",
      z.union([eventId, z.literal("")]),
    ),
    result: described(
      "`needs_revision` is followed by another cycle; the others end the outcome.",
      z.enum(["satisfied", "needs_revision", "max_iterations_reached", "failed", "interrupted"]),
    ),
    explanation: z.string(),
    usage: modelUsage,
  }),
};
