import type { Backend, LlmError, Role, Usage } from "@tandem/protocol";
import type { z } from "zod";
import type { Tool } from "./tool.ts";

/** Something a caller may want to show while an operation waits. */
export type Wait = {
  reason: "quota" | "overloaded" | "transient" | "concurrency";
  /** When the wait ends by plan; absent for `concurrency`. */
  until?: Date;
  attempt: number;
};

export interface CallRequest {
  role: Role;
  /** Sent as the system prompt, never glued to the prompt. */
  system?: string;
  prompt: string;
  signal?: AbortSignal;
  /** How long this call may wait for a quota to reset; the config's `limits.patience` where absent. */
  patienceMs?: number;
  onWait?: (wait: Wait) => void;
}

export type TextRequest = CallRequest;

export interface ObjectRequest<S extends z.ZodType> extends CallRequest {
  /** A zod object schema that JSON Schema can express. */
  schema: S;
}

export interface StepFinished {
  /** From 1. One step is one answer of the model, tool calls included. */
  stepIndex: number;
  stepBudget: number;
  /** Names of the tools that the answer asked for, in its order. */
  toolCalls: readonly string[];
  /** How many of these calls failed: the tool threw, is unknown, or was asked with input that does not fit. */
  toolFailures: number;
}

export interface LoopRequest extends CallRequest {
  tools: readonly Tool[];
  /** Model requests at most. Tools that the last answer asks for still run. */
  stepBudget: number;
  /** Once per step. What it throws is logged and survived. */
  onStepFinish?: (step: StepFinished) => void | Promise<void>;
}

export interface LoopResult {
  /** `natural`: the model was done. `budget`: the step budget ended it, what the tools did stands. `error`: see `error`. */
  stopReason: "natural" | "budget" | "error";
  /** The last text of the model; empty if it gave none. */
  text: string;
  steps: number;
  toolCalls: number;
  toolFailures: number;
  usage: Usage;
  /** Present exactly when `stopReason` is `error`. */
  error?: LlmError;
}

/**
 * Performs LLM operations. The same on every backend: inputs, results, errors (`LlmError`).
 *
 * - `generateText` and `generateObject` reject with an `LlmError`; an answer that is empty, cut, refused or does not fit
 *   the schema is a rejection, never a value.
 * - `runAgentLoop` resolves for everything that happens after it started; only misuse rejects.
 * - Retries, waits for quotas and concurrency are handled inside, and nowhere else.
 * - Every call ends in one `CallReport` to the sink that the runtime was made with.
 */
export interface LlmRuntime {
  readonly backend: Backend;
  generateText(request: TextRequest): Promise<string>;
  generateObject<S extends z.ZodType>(request: ObjectRequest<S>): Promise<z.output<S>>;
  runAgentLoop(request: LoopRequest): Promise<LoopResult>;
  /** Ends what is under way and leaves no process behind. */
  close(): Promise<void>;
}
