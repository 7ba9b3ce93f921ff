import type { CallReport, Cost, LlmConfig, Usage } from "@tandem/protocol";
import { addUsage, LlmError, noUsage } from "@tandem/protocol";
import type { z } from "zod";
import { acceptLoop, acceptObjectSchema, acceptPrompt, describeMisfit } from "./accept-request.ts";
import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";
import { Governor } from "./governor.ts";
import type { BackendCall, LlmBackend, LoopAnswer } from "./llm-backend.ts";
import type { CallRequest, LlmRuntime, LoopRequest, LoopResult, ObjectRequest, StepFinished } from "./llm-runtime.ts";
import { resolveModel } from "./models.ts";
import { addCost, costOf } from "./price.ts";

export interface RuntimeParts {
  config: LlmConfig;
  backend: LlmBackend;
  /** Gets one report for each call, failed ones too. */
  sink: (report: CallReport) => void;
  log?: { warn(message: string, details: { error: unknown }): void };
  clock?: Clock;
}

/** Whatever is thrown below becomes an `LlmError` here, once, and every call is reported here, once. */
export function createRuntime({ config, backend, sink, log, clock = systemClock }: RuntimeParts): LlmRuntime {
  const governor = new Governor(config.limits, clock);
  const closing = new AbortController();
  const warn = (message: string, error: unknown) => log?.warn(message, { error });

  /** Runs a caller's callback: what it throws must not end a call that goes well. */
  const survive = async (what: string, callback: () => unknown) => {
    try {
      await callback();
    } catch (error) {
      warn(`${what} failed; the call goes on.`, error);
    }
  };

  const underWay = new Set<Promise<unknown>>();
  /** Keeps count of what runs, so that `close` ends only when every call has been reported. */
  const track = async <T>(call: Promise<T>): Promise<T> => {
    underWay.add(call);
    try {
      return await call;
    } finally {
      underWay.delete(call);
    }
  };

  async function perform<T>(
    operation: CallReport["operation"],
    request: CallRequest,
    run: (call: BackendCall) => Promise<{ value: T; outcome: "ok" | "budget" }>,
  ): Promise<{ value?: T; error?: LlmError; usage: Usage }> {
    const started = clock.now();
    const model = config.models[request.role] ?? config.models.default;
    const signal = AbortSignal.any([closing.signal, ...(request.signal ? [request.signal] : [])]);
    const usageByModel: Record<string, Usage> = {};
    let cost: Cost = { usd: 0 };
    const governed = governor.begin({
      signal,
      patienceMs: request.patienceMs ?? config.limits.patience,
      onWait: (wait) => void survive("onWait", () => request.onWait?.(wait)),
    });
    const call: Omit<BackendCall, "model"> = {
      system: request.system?.trim() ? request.system : undefined,
      prompt: request.prompt,
      signal,
      attempt: governed.attempt,
      onUsage: (id, usage) => {
        usageByModel[id] = addUsage(usageByModel[id] ?? noUsage(), usage);
        cost = addCost(cost, costOf(id, usage));
      },
    };
    let value: T | undefined;
    let error: LlmError | undefined;
    let outcome: CallReport["outcome"];
    try {
      if (signal.aborted) throw aborted(signal.reason);
      ({ value, outcome } = await run({ ...call, model: resolveModel(backend.name, model) }));
    } catch (cause) {
      error = asLlmError(cause, signal);
      outcome = error.code;
    }
    const usage = Object.values(usageByModel).reduce(addUsage, noUsage());
    const { role } = request;
    const { name, payer } = backend;
    const latencyMs = clock.now() - started;
    const attempts = governed.retries + 1;
    const report = {
      operation,
      role,
      model,
      backend: name,
      payer,
      usage,
      usageByModel,
      cost,
      latencyMs,
      attempts,
      outcome,
    };
    await survive("The sink of call reports", () => sink(report));
    return { value, error, usage };
  }

  async function performOrThrow<T>(...parameters: Parameters<typeof perform<T>>): Promise<T> {
    const { value, error } = await track(perform(...parameters));
    if (error) throw error;
    return value as T;
  }

  return {
    backend: backend.name,

    async generateText(request) {
      acceptPrompt(request);
      return performOrThrow("text", request, async (call) => ({ value: await backend.text(call), outcome: "ok" }));
    },

    async generateObject<S extends z.ZodType>(request: ObjectRequest<S>): Promise<z.output<S>> {
      acceptPrompt(request);
      const jsonSchema = acceptObjectSchema(request.schema);
      return performOrThrow("object", request, async (call) => {
        const check = (value: unknown) => describeMisfit(request.schema, value);
        const answer = request.schema.safeParse(await backend.object({ ...call, jsonSchema, check }));
        if (!answer.success)
          throw new LlmError("structured_output", "The backend let an object pass that does not fit.");
        return { value: answer.data, outcome: "ok" };
      });
    },

    async runAgentLoop(request: LoopRequest): Promise<LoopResult> {
      acceptPrompt(request);
      acceptLoop(request);
      const counts = { steps: 0, toolCalls: 0, toolFailures: 0 };
      const onStepFinish = async (step: StepFinished) => {
        counts.steps += 1;
        counts.toolCalls += step.toolCalls.length;
        counts.toolFailures += step.toolFailures;
        await survive("onStepFinish", () => request.onStepFinish?.(step));
      };
      const { tools, stepBudget } = request;
      const loop = perform<LoopAnswer>("loop", request, async (call) => {
        const answer = await backend.loop({ ...call, tools, stepBudget, onStepFinish });
        return { value: answer, outcome: answer.stopReason === "budget" ? "budget" : "ok" };
      });
      const { value, error, usage } = await track(loop);
      if (error) return { stopReason: "error", text: "", ...counts, usage, error };
      const { stopReason, text } = value as LoopAnswer;
      return { stopReason, text, ...counts, usage };
    },

    async close() {
      closing.abort();
      await Promise.all([Promise.allSettled(underWay), backend.close()]);
    },
  };
}

function asLlmError(cause: unknown, signal: AbortSignal): LlmError {
  if (cause instanceof LlmError) return cause;
  if (signal.aborted) return aborted(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LlmError("invalid_request", `The call failed in an unforeseen way: ${message}`, { cause });
}

function aborted(cause: unknown): LlmError {
  return new LlmError("aborted", "The call was aborted.", { cause });
}
