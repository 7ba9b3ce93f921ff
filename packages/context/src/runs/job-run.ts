import type { JobId, RunEvent, TandemError } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import type { z } from "zod";

export { runEvent, type RunEvent } from "@tandem/protocol";

/**
 * A running job for its stages. A stage is a plain function; expensive work goes through `step`, so that a resumed run
 * pays for nothing twice.
 */
export interface Run {
  readonly job: JobId;
  readonly signal: AbortSignal;
  /** Undefined without a backend: work that needs a model is skipped and reported. */
  readonly llm: LlmRuntime | undefined;
  /** Current model id of a role; part of a step's inputs. */
  modelOf(role: string): string;
  emit(event: RunEvent): void;
  /**
   * Returns the stored result, or computes and stores it. Shared by all runs of the context. `inputs` must contain
   * everything the result depends on: content, prompt, model id. A rejection stores nothing.
   */
  step<S extends z.ZodType>(
    kind: string,
    inputs: unknown,
    schema: S,
    compute: () => Promise<z.input<S>>,
  ): Promise<z.output<S>>;
  /** Lists an item as skipped, with the reason. */
  skip(stage: string, item: string, error: TandemError): void;
}
