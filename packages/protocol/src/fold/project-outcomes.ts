import { DEFAULT_ITERATIONS } from "../words.ts";
import type { EventOf, LoggedEvent } from "../events/session-event.ts";
import type { PartOf } from "./message.ts";
import type { Timeline } from "./project-timeline.ts";

export const outcomePart = (event: EventOf<"user.define_outcome">, at: string | null): PartOf<"outcome"> => ({
  type: "outcome",
  id: event.id,
  at,
  outcome_id: event.outcome_id,
  description: event.description,
  rubric: event.rubric.type === "text" ? event.rubric.content : event.rubric.file_id,
  max_iterations: event.max_iterations ?? DEFAULT_ITERATIONS,
  ...(event.tandem?.grader && { grader: event.tandem.grader }),
});

/** `Evaluation 2: needs revision. Line 1 is missing.` */
export function evaluationText({
  iteration,
  state,
  explanation,
}: Pick<PartOf<"evaluation">, "iteration" | "state" | "explanation">): string {
  const [first = ""] = (explanation ?? "").trim().split("\n");
  return `Evaluation ${iteration + 1}: ${state.replaceAll("_", " ")}${first ? `. ${first}` : ""}`;
}

export function beginEvaluation(
  timeline: Timeline,
  entry: LoggedEvent,
  { id, processed_at: at, outcome_id, iteration }: EventOf<"span.outcome_evaluation_start">,
): void {
  cutOffEvaluation(timeline);
  timeline.evaluation = id;
  timeline.addBeside(entry, {
    type: "evaluation",
    id,
    at,
    outcome_id,
    iteration,
    state: "running",
    explanation: null,
    usage: null,
  });
}

export function endEvaluation(
  timeline: Timeline,
  entry: LoggedEvent,
  event: EventOf<"span.outcome_evaluation_end">,
): void {
  const { outcome_evaluation_start_id: start, outcome_id, iteration, result, explanation, usage } = event;
  const before = timeline.find("evaluation", start);
  const verdict = { outcome_id, iteration, state: result, explanation, usage };
  if (before) timeline.replace({ ...before, ...verdict });
  else timeline.addBeside(entry, { type: "evaluation", id: event.id, at: event.processed_at, ...verdict });
  if (timeline.evaluation === start) timeline.evaluation = null;
}

/** A crash or a limit ended an evaluation without a verdict. */
export function cutOffEvaluation(timeline: Timeline): void {
  const open = timeline.evaluation === null ? undefined : timeline.find("evaluation", timeline.evaluation);
  timeline.evaluation = null;
  if (open?.state === "running") timeline.replace({ ...open, state: "cut_off" });
}
