import {
  DEFAULT_ITERATIONS,
  type EventId,
  type EventOf,
  type ModelUsage,
  type OutcomeEvaluation,
} from "@tandem/protocol";
import type { OutcomeState, SessionRow } from "@tandem/storage";

// The states of an outcome: pending (in the input queue) → running ⇄ evaluating → a terminal result. Kept in the session's row,
// so that each step is committed together with its event.

export type DefinedOutcome = EventOf<"user.define_outcome">;
type EvaluationEnd = EventOf<"span.outcome_evaluation_end">;

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

const OPEN: ReadonlySet<string> = new Set(["pending", "running", "evaluating"]);

export const isOver = ({ result }: OutcomeEvaluation): boolean => !OPEN.has(result);

/** The outcome that the agent works towards. There is at most one. */
export const activeOutcome = ({ outcomes = [] }: Pick<SessionRow, "outcomes">): OutcomeState | undefined =>
  outcomes.find((outcome) => !isOver(outcome));

/** The row's list with one outcome added or replaced. */
export function withOutcome({ outcomes = [] }: Pick<SessionRow, "outcomes">, changed: OutcomeState): OutcomeState[] {
  const index = outcomes.findIndex(({ outcome_id: id }) => id === changed.outcome_id);
  return index === -1 ? [...outcomes, changed] : outcomes.with(index, changed);
}

export const newOutcome = (event: DefinedOutcome, result: "pending" | "running"): OutcomeState => ({
  type: "outcome_evaluation",
  outcome_id: event.outcome_id,
  description: event.description,
  result,
  explanation: null,
  iteration: 0,
  completed_at: null,
  event_id: event.id,
  max_iterations: event.max_iterations ?? DEFAULT_ITERATIONS,
  start_id: null,
});

export const evaluating = (outcome: OutcomeState, start: EventId): OutcomeState => ({
  ...outcome,
  result: "evaluating",
  start_id: start,
});

/** The evaluation was cut off without a verdict. The agent's next turn is evaluated again, as the same iteration. */
export const unevaluated = (outcome: OutcomeState): OutcomeState => ({ ...outcome, result: "running", start_id: null });

/** The last possible evaluation that asks for a revision ends the outcome. */
export const resultOf = (
  { iteration, max_iterations: max }: OutcomeState,
  result: EvaluationEnd["result"],
): EvaluationEnd["result"] => (result === "needs_revision" && iteration + 1 >= max ? "max_iterations_reached" : result);

/** The event that ends an evaluation, or the outcome before any evaluation, and the outcome after it. */
export function evaluated(
  outcome: OutcomeState,
  { result, explanation, usage }: Pick<EvaluationEnd, "result" | "explanation"> & { usage?: ModelUsage },
  at: string,
): { body: Omit<EvaluationEnd, "id" | "processed_at">; outcome: OutcomeState } {
  const { outcome_id, iteration, start_id: start } = outcome;
  return {
    body: {
      type: "span.outcome_evaluation_end",
      outcome_id,
      iteration,
      outcome_evaluation_start_id: start ?? "",
      result,
      explanation,
      usage: usage ?? NO_USAGE,
    },
    outcome:
      result === "needs_revision"
        ? { ...unevaluated(outcome), explanation, iteration: iteration + 1 }
        : { ...outcome, result, explanation, completed_at: at, start_id: null },
  };
}

/** As clients see it. */
export function outcomeView(outcome: OutcomeState): OutcomeEvaluation {
  const { type, outcome_id, description, result, explanation, iteration, completed_at } = outcome;
  return { type, outcome_id, description, result, explanation, iteration, completed_at };
}
