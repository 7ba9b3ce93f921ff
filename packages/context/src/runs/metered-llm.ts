import { LlmError, noUsage, TandemError, type Backend, type CallReport } from "@tandem/protocol";
import type {
  CallRequest,
  LlmRuntime,
  LoopRequest,
  LoopResult,
  ObjectRequest,
  TextRequest,
  Wait,
} from "@tandem/runtime";
import type { z } from "zod";
import { hashOf } from "../hash-of.ts";
import type { RunEvent } from "./job-run.ts";
import { REQUEST_ERRORS } from "./request-errors.ts";

/** Creates the runtime of a job. Opened on the first call, so that a fully cached run starts nothing. */
export interface LlmSource {
  backend: Backend;
  open(onReport: (report: CallReport) => void): Promise<LlmRuntime>;
}

export interface Budget {
  usd?: number;
  requests?: number;
}

type Terms = Required<Pick<CallRequest, "signal" | "onWait">>;

/** A job's runtime: counts usage, enforces the job's budget, ends with the job, and remembers unrecovered failures. */
export class MeteredLlm implements LlmRuntime {
  readonly backend: Backend;
  readonly #source: LlmSource;
  readonly #signal: AbortSignal;
  readonly #budget: Budget;
  readonly #emit: (event: RunEvent) => void;
  readonly #onSpent: () => void;
  #opened: Promise<LlmRuntime> | undefined;
  #closed: Promise<void> | undefined;
  #failures: { request: string; role: string; error: LlmError }[] = [];
  requests = 0;
  /** Null once a model with an unknown price was used. */
  usd: number | null = 0;

  constructor(
    source: LlmSource,
    job: { signal: AbortSignal; budget: Budget; emit: (event: RunEvent) => void; onSpent: () => void },
  ) {
    this.backend = source.backend;
    this.#source = source;
    this.#signal = job.signal;
    this.#budget = job.budget;
    this.#emit = job.emit;
    this.#onSpent = job.onSpent;
  }

  /** A failed call that no later call has recovered. */
  get failure(): LlmError | undefined {
    return this.#failures[0]?.error;
  }

  generateText(request: TextRequest): Promise<string> {
    return this.#call(request, (llm, terms) => llm.generateText({ ...request, ...terms }));
  }

  generateObject<S extends z.ZodType>(request: ObjectRequest<S>): Promise<z.output<S>> {
    return this.#call(request, (llm, terms) => llm.generateObject({ ...request, ...terms }));
  }

  async runAgentLoop(request: LoopRequest): Promise<LoopResult> {
    let result: LoopResult | undefined;
    try {
      return await this.#call(request, async (llm, terms) => {
        const left = (this.#budget.requests ?? Infinity) - this.requests;
        const stepBudget = Math.min(request.stepBudget, left);
        result = await llm.runAgentLoop({ ...request, ...terms, stepBudget });
        // The report counts the call as one request; each further step is one more.
        this.requests += Math.max(0, result.steps - 1);
        if (result.error) throw result.error;
        return result;
      });
    } catch (error) {
      if (result) return result;
      // Failed before it began: no budget or no backend. The caller sees a loop that ended at once.
      if (!(error instanceof LlmError) || error.code === "invalid_request") throw error;
      const nothing = { text: "", steps: 0, toolCalls: 0, toolFailures: 0, usage: noUsage() };
      return { ...nothing, stopReason: "error", error };
    }
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      const llm = await this.#opened?.catch(() => undefined);
      await llm?.close();
    })();
    return this.#closed;
  }

  async #call<T>(request: CallRequest, perform: (llm: LlmRuntime, terms: Terms) => Promise<T>): Promise<T> {
    const id = hashOf([request.role, request.system, request.prompt]);
    try {
      this.#signal.throwIfAborted();
      this.#checkBudget();
      const llm = await this.#open();
      const signal = request.signal ? AbortSignal.any([this.#signal, request.signal]) : this.#signal;
      const value = await perform(llm, { signal, onWait: request.onWait ?? this.#tellOf });
      this.#failures = this.#failures.filter(
        ({ request: failed, role, error }) =>
          failed !== id && !(role === request.role && REQUEST_ERRORS.has(error.code)),
      );
      return value;
    } catch (error) {
      if (error instanceof LlmError && error.code !== "aborted") {
        this.#failures.push({ request: id, role: request.role, error });
      }
      throw error;
    }
  }

  #open(): Promise<LlmRuntime> {
    this.#opened ??= this.#source
      .open((report) => {
        this.requests += report.attempts;
        this.usd = this.usd === null || report.cost === null ? null : this.usd + report.cost.usd;
        this.#onSpent();
      })
      .catch((cause: unknown) => {
        if (!(cause instanceof TandemError) || cause instanceof LlmError) throw cause;
        throw new LlmError("not_configured", cause.message, { fix: cause.fix, cause });
      });
    return this.#opened;
  }

  /** Waiting for our own concurrency limit is not reported. */
  readonly #tellOf = ({ reason, until }: Wait): void => {
    if (until) this.#emit({ type: "waiting", reason, until: until.toISOString() });
  };

  #checkBudget(): void {
    const { usd = Infinity, requests = Infinity } = this.#budget;
    if ((this.usd ?? 0) < usd && this.requests < requests) return;
    const limit =
      this.requests >= requests ? `${requests} model ${requests === 1 ? "request" : "requests"}` : `$${usd}`;
    throw new LlmError("billing", `The budget of this job, ${limit}, is used up.`, {
      fix: "Start it again: it continues from here, with a new budget.",
      final: true,
    });
  }
}
