import {
  addCost,
  addUsage,
  type CallReport,
  type Cost,
  costOf,
  type LlmConfig,
  LlmError,
  noUsage,
  type Usage,
} from "@tandem/protocol";
import type { z } from "zod";
import { acceptObjectSchema, acceptPrompt, acceptTools, describeViolations } from "./accept-request.ts";
import { type GovernorClock, governorClock } from "./governor-clock.ts";
import { type GovernedCall, Governor, type SharedQuotas } from "./governor.ts";
import type { BackendCall, LlmBackend, LoopAnswer } from "./llm-backend.ts";
import type {
  CallRequest,
  LlmRuntime,
  LoopRequest,
  LoopResult,
  ObjectRequest,
  StepFinished,
  TextRequest,
} from "./llm-runtime.ts";
import { resolveModel } from "./models.ts";
import type { Tool } from "./tool.ts";

/** Usage of one call so far. Each request is priced separately, because some models charge more for long ones. */
class Meter {
  readonly #usageByModel: Record<string, Usage> = {};
  #cost: Cost = { usd: 0 };

  add(model: string, usage: Usage): void {
    this.#usageByModel[model] = addUsage(this.#usageByModel[model] ?? noUsage(), usage);
    this.#cost = addCost(this.#cost, costOf(model, usage));
  }

  get reading(): { usage: Usage; usageByModel: Record<string, Usage>; cost: Cost } {
    const usage = Object.values(this.#usageByModel).reduce(addUsage, noUsage());
    return { usage, usageByModel: { ...this.#usageByModel }, cost: this.#cost };
  }
}

export interface RuntimeOptions {
  config: LlmConfig;
  backend: LlmBackend;
  /** Gets one report per call, including failed ones, before the call ends. */
  sink: (report: CallReport) => void;
  log?: { warn(message: string, details: { error: unknown }): void };
  clock?: GovernorClock;
  /** Quota knowledge shared with other processes on the same account. */
  quotas?: SharedQuotas;
}

/** Outcome of a call, and its usage. */
type Ending<T> = ({ type: "done"; value: T } | { type: "failed"; error: LlmError }) & { usage: Usage };

/** The single place where errors become `LlmError`s and calls are reported. */
export function createRuntime({
  config,
  backend,
  sink,
  log,
  quotas,
  clock = governorClock,
}: RuntimeOptions): LlmRuntime {
  const governor = new Governor(config.limits, clock, quotas);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();

  /** Runs a caller's callback: its error must not fail a successful call. */
  const survive = async (what: string, callback: () => unknown) => {
    try {
      await callback();
    } catch (error) {
      log?.warn(`${what} failed; the call continues.`, { error });
    }
  };

  async function perform<T>(
    operation: CallReport["operation"],
    request: CallRequest,
    run: (call: BackendCall, aside: GovernedCall["aside"]) => Promise<T>,
    outcomeOf: (value: T) => CallReport["outcome"] = () => "ok",
  ): Promise<Ending<T>> {
    const started = clock.now();
    const model = config.models[request.role] ?? config.models.default;
    const signal = AbortSignal.any([closing.signal, ...(request.signal ? [request.signal] : [])]);
    const meter = new Meter();
    const ignored = new Map<string, string>();
    const governed = governor.begin({
      model,
      signal,
      patienceMs: request.patienceMs ?? config.limits.patience,
      onWait: (wait) => void survive("onWait", () => request.onWait?.(wait)),
    });
    let end: { type: "done"; value: T } | { type: "failed"; error: LlmError };
    try {
      signal.throwIfAborted();
      const call: BackendCall = {
        model: resolveModel(backend.name, model),
        system: request.system?.trim() ? request.system : undefined,
        prompt: request.prompt,
        temperature: request.temperature,
        signal,
        attempt: governed.attempt,
        onUsage: (id, usage) => meter.add(id, usage),
        onIgnored: (option, why) => void ignored.set(option, why),
      };
      end = { type: "done", value: await run(call, governed.aside) };
    } catch (cause) {
      end = { type: "failed", error: asLlmError(cause, signal) };
    }
    const report: CallReport = {
      operation,
      role: request.role,
      model,
      backend: backend.name,
      payer: backend.payer,
      ...meter.reading,
      latencyMs: clock.now() - started,
      waitedMs: governed.waitedMs,
      attempts: governed.retries + 1,
      outcome: end.type === "done" ? outcomeOf(end.value) : end.error.code,
      ...(ignored.size > 0 && { ignored: Array.from(ignored, ([key, why]) => ({ key, why })) }),
    };
    void survive("The sink of call reports", () => sink(report));
    return { ...end, usage: report.usage };
  }

  /** Tracks running calls, so that `close` waits until each is reported. */
  async function track<T>(call: Promise<T>): Promise<T> {
    underWay.add(call);
    try {
      return await call;
    } finally {
      underWay.delete(call);
    }
  }

  return {
    backend: backend.name,

    async generateText(request) {
      acceptPrompt(request);
      const { tools, stepBudget } = toolsOf(request);
      const call = perform("text", request, (call, aside) =>
        backend.text({ ...call, tools: withoutSlot(tools, aside), stepBudget }),
      );
      return valueOf(await track(call));
    },

    async generateObject<S extends z.ZodType>(request: ObjectRequest<S>): Promise<z.output<S>> {
      acceptPrompt(request);
      const { tools, stepBudget } = toolsOf(request);
      const { schema } = request;
      const jsonSchema = acceptObjectSchema(schema);
      const check = (value: unknown) => describeViolations(schema, value);
      const call = perform("object", request, async (call, aside) => {
        const offered = { tools: withoutSlot(tools, aside), stepBudget };
        const answer = schema.safeParse(await backend.object({ ...call, ...offered, jsonSchema, check }));
        if (answer.success) return answer.data;
        throw new LlmError("structured_output", "The backend let an object pass that does not fit the schema.");
      });
      return valueOf(await track(call));
    },

    async runAgentLoop(request: LoopRequest): Promise<LoopResult> {
      acceptPrompt(request);
      acceptTools(request);
      const { stepBudget } = request;
      const counts = { steps: 0, toolCalls: 0, toolFailures: 0 };
      const call = perform<LoopAnswer>(
        "loop",
        request,
        (call, aside) => {
          const tools = withoutSlot(request.tools, aside);
          const onStepFinish = async (step: StepFinished) => {
            counts.steps += 1;
            counts.toolCalls += step.toolCalls.length;
            counts.toolFailures += step.toolFailures;
            const { onStepFinish: callback } = request;
            if (callback) await aside(() => survive("onStepFinish", () => callback(step)));
          };
          return backend.loop({ ...call, tools, stepBudget, onStepFinish });
        },
        ({ stopReason }) => (stopReason === "budget" ? "budget" : "ok"),
      );
      const { usage, ...end } = await track(call);
      if (end.type === "done") return { ...end.value, ...counts, usage };
      return { stopReason: "error", text: "", ...counts, usage, error: end.error };
    },

    async close() {
      closing.abort();
      await Promise.all([Promise.allSettled(underWay), backend.close()]);
    },
  };
}

const DEFAULT_STEP_BUDGET = 10;

function toolsOf({ tools = [], stepBudget = DEFAULT_STEP_BUDGET }: TextRequest) {
  acceptTools({ tools, stepBudget });
  return { tools, stepBudget };
}

/** Tools that hold no slot while they run, so that they may call the runtime. */
const withoutSlot = (tools: readonly Tool[], aside: GovernedCall["aside"]): Tool[] =>
  tools.map((tool) => ({
    ...tool,
    execute: (...given: Parameters<Tool["execute"]>) => aside(() => tool.execute(...given)),
  }));

function valueOf<T>(ending: Ending<T>): T {
  if (ending.type === "failed") throw ending.error;
  return ending.value;
}

function asLlmError(cause: unknown, signal: AbortSignal): LlmError {
  if (cause instanceof LlmError) return cause;
  if (signal.aborted) return new LlmError("aborted", "The call was aborted.", { cause });
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LlmError("invalid_request", `The call failed in an unforeseen way: ${message}`, { cause });
}
