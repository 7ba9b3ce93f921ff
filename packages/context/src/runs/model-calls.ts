import { LlmError, type Role } from "@tandem/protocol";
import type { LlmRuntime, Wait } from "@tandem/runtime";
import type { z } from "zod";
import type { Run } from "./job-run.ts";
import { REQUEST_ERRORS } from "./request-errors.ts";

/** One call may be slow; after this many timeouts the service counts as unavailable, because each takes minutes. */
const TIMEOUTS = 3;

/**
 * The model calls of one stage. A used-up quota, a rejected credential or an unavailable service stops it at once;
 * remaining items are left for the next run instead of failing one by one. The runtime limits concurrency.
 */
export class ModelCalls {
  readonly #run: Run;
  readonly #role: Role;
  readonly #llm: LlmRuntime | undefined;
  readonly #stop = new AbortController();
  #timeouts = 0;
  /** Why no further call is made. */
  stopped: LlmError | undefined;

  constructor(run: Run, role: Role, llm = run.llm) {
    this.#run = run;
    this.#role = role;
    this.#llm = llm;
    if (!llm) this.stopped = new LlmError("not_configured", "No model is configured, and documents need one.");
  }

  /** Rejects when the run is aborted; returns every other failure. */
  async object<S extends z.ZodType>(request: {
    system: string;
    prompt: string;
    schema: S;
  }): Promise<{ answer: z.output<S> } | { error: LlmError }> {
    const { signal } = this.#run;
    signal.throwIfAborted();
    if (this.stopped || !this.#llm) return { error: this.stopped! };
    try {
      const answer = await this.#llm.generateObject({
        ...request,
        role: this.#role,
        signal: AbortSignal.any([signal, this.#stop.signal]),
        onWait: (wait) => this.#tellOf(wait),
      });
      return { answer };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof LlmError)) throw error;
      if (this.stopped) return { error: this.stopped };
      const isTimeout = error.code === "timeout";
      if (isTimeout) this.#timeouts += 1;
      if (isTimeout ? this.#timeouts >= TIMEOUTS : !REQUEST_ERRORS.has(error.code)) {
        this.stopped = error;
        // Queued calls would fail one by one.
        this.#stop.abort();
      }
      return { error };
    }
  }

  /** Waiting for our own concurrency limit is not reported. */
  #tellOf({ reason, until }: Wait): void {
    if (until) this.#run.emit({ type: "waiting", reason, until: until.toISOString() });
  }
}
