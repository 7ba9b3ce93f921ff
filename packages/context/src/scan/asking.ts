import { LlmError, type LlmErrorCode } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import type { z } from "zod";
import type { Run } from "../runs/run.ts";

export const SCAN_ROLE = "candidateExtraction";

/** Calls at once. The runtime's own limit may be lower: then they wait there. */
export const CALLS_AT_ONCE = 4;

/** Failures of one call's content: the next call may well succeed. After any other, none would. */
const ABOUT_THE_CALL: ReadonlySet<LlmErrorCode> = new Set([
  "refused",
  "empty_answer",
  "max_tokens",
  "structured_output",
  "prompt_too_long",
  "invalid_request",
  "timeout",
]);

/** The model calls of one stage. Once one fails in a way that others would too, no further one is made. */
export class Asking {
  readonly #run: Run;
  readonly #llm: LlmRuntime;
  #stopped: LlmError | undefined;

  constructor(run: Run, llm: LlmRuntime) {
    this.#run = run;
    this.#llm = llm;
  }

  get stopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Rejects when the run is aborted; every other failure is returned. */
  async object<S extends z.ZodType>(request: {
    system: string;
    prompt: string;
    schema: S;
  }): Promise<{ answer: z.output<S> } | { error: LlmError }> {
    if (this.#stopped) return { error: this.#stopped };
    try {
      const answer = await this.#llm.generateObject({ ...request, role: SCAN_ROLE, signal: this.#run.signal });
      return { answer };
    } catch (error) {
      this.#run.signal.throwIfAborted();
      if (!(error instanceof LlmError)) throw error;
      if (!ABOUT_THE_CALL.has(error.code)) this.#stopped ??= error;
      return { error };
    }
  }
}
