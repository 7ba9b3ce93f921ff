import { costOf, type CassetteInput, type CassetteStep } from "@tandem/protocol";
import type { GradeOutcome } from "@tandem/sessions";

type OutcomeEvaluation = Extract<CassetteInput, { type: "span.outcome_evaluation_end" }>;

/** Gives the recorded verdicts on outcomes in the grader's place. */
export class RecordedVerdicts {
  readonly #verdicts: OutcomeEvaluation[];
  readonly #onChange: () => void;
  #grading = 0;

  constructor(steps: readonly CassetteStep[], onChange: () => void) {
    const events = steps.flatMap((step) => (step.kind === "input" ? [step.event] : []));
    this.#verdicts = events.filter((event) => event.type === "span.outcome_evaluation_end");
    this.#onChange = onChange;
  }

  get isGrading(): boolean {
    return this.#grading > 0;
  }

  readonly give: GradeOutcome = async (_task, { signal, onRequestStart, onRequestEnd }) => {
    const verdict = this.#verdicts.shift();
    this.#grading += 1;
    this.#onChange();
    try {
      for (const { model, usage } of verdict?.requests ?? []) {
        onRequestStart();
        const cost = model === null ? null : costOf(model, listed(usage));
        onRequestEnd({
          model_usage: usage,
          tandem: { ...(model !== null && { model }), ...(cost && { usd: cost.usd }) },
        });
      }
      switch (verdict?.result) {
        case "satisfied":
        case "needs_revision":
        case "failed":
          return { result: verdict.result, explanation: verdict.explanation, reported: {} };
        case "max_iterations_reached":
          return { result: "needs_revision", explanation: verdict.explanation, reported: {} };
        case "interrupted":
        case undefined:
          return await untilAborted(signal);
      }
    } finally {
      this.#grading -= 1;
    }
  };
}

const listed = (usage: OutcomeEvaluation["requests"][number]["usage"]) => ({
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
  cacheReadTokens: usage.cache_read_input_tokens,
  cacheWrite5mTokens: usage.cache_creation_input_tokens,
  cacheWrite1hTokens: 0,
  webSearches: 0,
});

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
  });
