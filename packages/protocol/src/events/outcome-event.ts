import type { EventId } from "../ids.ts";
import type { ProgramGrader } from "./define-outcome.ts";
import type { ModelUsage } from "./model-usage.ts";

// Outcomes: a client describes a deliverable and a rubric; a grader evaluates each attempt until one is satisfied.

type OutcomeRubric = { type: "text"; content: string } | { type: "file"; file_id: string };

/** `needs_revision` is followed by another cycle; the others end the outcome. */
type OutcomeVerdict = "satisfied" | "needs_revision" | "max_iterations_reached" | "failed" | "interrupted";

export type OutcomeEventBody =
  /** The echo of a client's request. */
  | {
      type: "user.define_outcome";
      outcome_id: string;
      description: string;
      rubric: OutcomeRubric;
      max_iterations: number | null;
      tandem?: { by?: string; grader?: ProgramGrader };
    }
  /** `iteration` is 0 for the first evaluation. */
  | { type: "span.outcome_evaluation_start"; outcome_id: string; iteration: number }
  | { type: "span.outcome_evaluation_ongoing"; outcome_id: string; iteration: number }
  | {
      type: "span.outcome_evaluation_end";
      outcome_id: string;
      iteration: number;
      /** Empty if the outcome was interrupted before its first evaluation. */
      outcome_evaluation_start_id: EventId | "";
      result: OutcomeVerdict;
      explanation: string;
      usage: ModelUsage;
    };
