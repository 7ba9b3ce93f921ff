import { LlmError, type LlmErrorCode, type Role } from "@tandem/protocol";
import type { LlmRuntime, Wait } from "@tandem/runtime";
import type { z } from "zod";
import type { Run } from "./job-run.ts";

/** About what was asked: the next call may well succeed. After any other failure, none would. */
const ABOUT_THE_CALL: ReadonlySet<LlmErrorCode> = new Set([
  "refused",
  "empty_answer",
  "max_tokens",
  "structured_output",
  "prompt_too_long",
  "invalid_request",
  "timeout",
]);

/** One call may be slow by nature; a service that lets so many wait is away, and each wait takes minutes. */
const TIMEOUTS = 3;

/**
 * The model calls of one stage. A used-up quota, a refused credential or a service that stays away stops it at the first sight:
 * what was not asked yet is left for the next run, not failed one by one. How many are under way at once is the runtime's to
 * say.
 */
export class Asking {
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

  /** Rejects when the run is aborted; every other failure is returned. */
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
      if (error.code === "timeout") this.#timeouts += 1;
      if (!ABOUT_THE_CALL.has(error.code) || this.#timeouts >= TIMEOUTS) {
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
