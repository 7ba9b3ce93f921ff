import type { JobId, RunEvent, TandemError } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import { z } from "zod";

export { runEvent, type RunEvent } from "@tandem/protocol";

/**
 * A job under way, as its stages see it. A stage is a plain function over its input; what is dear in it goes through
 * `step`, so that a run that was killed and started again pays for nothing twice.
 */
export interface Run {
  readonly job: JobId;
  readonly signal: AbortSignal;
  /** Undefined where no backend is configured: what needs a model is passed over then, and said so. */
  readonly llm: LlmRuntime | undefined;
  /** The id of the model that serves a role now; part of what a step's result depends on. */
  modelOf(role: string): string;
  emit(event: RunEvent): void;
  /**
   * The result of `compute`, or the stored one if the same was computed before: by this run or any other of this context.
   * `inputs` is everything that the result depends on: content, prompt, model id. Nothing is stored if `compute` rejects.
   */
  step<S extends z.ZodType>(
    kind: string,
    inputs: unknown,
    schema: S,
    compute: () => Promise<z.input<S>>,
  ): Promise<z.output<S>>;
  /** Lists an item as passed over, with the reason. */
  skip(stage: string, item: string, error: TandemError): void;
}
