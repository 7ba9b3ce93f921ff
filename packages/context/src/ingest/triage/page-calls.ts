import { LlmError, type LlmErrorCode } from "@tandem/protocol";
import type { Wait } from "@tandem/runtime";
import type { z } from "zod";
import type { Run } from "../../runs/run.ts";

/** About the page that was asked about: the next page may well go through. After any other failure, none would. */
const ABOUT_THE_PAGE: ReadonlySet<LlmErrorCode> = new Set([
  "refused",
  "empty_answer",
  "max_tokens",
  "structured_output",
  "prompt_too_long",
  "invalid_request",
  "timeout",
]);

/** A page may be slow by nature; a service that lets so many wait is away, and each wait takes minutes. */
const TIMEOUTS = 3;

/**
 * The model calls of a stage that goes through pages, by role `triage`. A used-up quota, a refused credential or a service
 * that stays away stops the stage at the first sight of it: its other pages are left for the next run, not failed one by
 * one. How many are under way at once is the runtime's to say.
 */
export class PageCalls {
  readonly #run: Run;
  readonly #stop = new AbortController();
  #timeouts = 0;
  stopped: LlmError | undefined;

  constructor(run: Run) {
    this.#run = run;
    if (!run.llm) this.stopped = new LlmError("not_configured", "No model is configured, and documents need one.");
  }

  /** Rejects when the run is aborted; other failures are returned. */
  async object<S extends z.ZodType>(request: {
    system: string;
    prompt: string;
    schema: S;
  }): Promise<{ answer: z.output<S> } | { error: LlmError }> {
    const { llm, signal } = this.#run;
    signal.throwIfAborted();
    if (this.stopped || !llm) return { error: this.stopped! };
    try {
      const answer = await llm.generateObject({
        ...request,
        role: "triage",
        signal: AbortSignal.any([signal, this.#stop.signal]),
        onWait: (wait) => this.#tellOf(wait),
      });
      return { answer };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof LlmError)) throw error;
      if (this.stopped) return { error: this.stopped };
      if (error.code === "timeout") this.#timeouts += 1;
      if (!ABOUT_THE_PAGE.has(error.code) || this.#timeouts >= TIMEOUTS) {
        this.stopped = error;
        // Those that wait for their turn would be refused one by one.
        this.#stop.abort();
      }
      return { error };
    }
  }

  /** Waiting for another call of ours to end is nothing to tell. */
  #tellOf({ reason, until }: Wait): void {
    if (until) this.#run.emit({ type: "waiting", reason, until: until.toISOString() });
  }
}
