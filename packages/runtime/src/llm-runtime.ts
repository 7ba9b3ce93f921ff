import type { Backend, LlmError, Role, Usage } from "@tandem/protocol";
import type { z } from "zod";
import type { Tool } from "./tool.ts";

/** A wait that a caller may want to show. */
export type Wait = {
  reason: "quota" | "overloaded" | "transient" | "concurrency";
  /** Planned end of the wait; absent for `concurrency`. */
  until?: Date;
  attempt: number;
};

export interface CallRequest {
  role: Role;
  /** Sent as the system prompt, never prepended to the prompt. */
  system?: string;
  prompt: string;
  /** From 0 to 1. A backend or model without it ignores it, and the call's report says so. */
  temperature?: number;
  signal?: AbortSignal;
  /** Maximum total wait for quotas; default: the config's `limits.patience`. */
  patienceMs?: number;
  onWait?: (wait: Wait) => void;
}

export interface TextRequest extends CallRequest {
  /** Tools that the model may call before its answer. */
  tools?: readonly Tool[];
  /** Maximum number of model requests of a call with tools; default: 10. */
  stepBudget?: number;
}

export interface ObjectRequest<S extends z.ZodType> extends TextRequest {
  /** A zod object schema that JSON Schema can express. */
  schema: S;
}

export interface StepFinished {
  /** Starts at 1. One step is one model answer with its tool calls. */
  stepIndex: number;
  stepBudget: number;
  /** Requested tools in the answer's order. */
  toolCalls: readonly string[];
  /** Number of failed calls: the tool threw, is unknown, or got invalid input. */
  toolFailures: number;
}

export interface LoopRequest extends CallRequest {
  tools: readonly Tool[];
  /** Maximum number of model requests. Tools of the last answer still run. */
  stepBudget: number;
  /** Called once per step. Its errors are logged and ignored. */
  onStepFinish?: (step: StepFinished) => void | Promise<void>;
}

export interface LoopResult {
  /**
   * `natural`: the model was done. `budget`: the step budget ended it; effects of tools remain. `error`: see `error`.
   */
  stopReason: "natural" | "budget" | "error";
  /** The model's last text; may be empty. */
  text: string;
  steps: number;
  toolCalls: number;
  toolFailures: number;
  usage: Usage;
  /** Present exactly when `stopReason` is `error`. */
  error?: LlmError;
}

/**
 * Performs LLM operations, with the same inputs, results and errors (`LlmError`) on every backend.
 * - `generateText` and `generateObject` reject with an `LlmError`. An empty, truncated, refused or invalid answer is a
 * rejection, never a value.
 * - `runAgentLoop` resolves for everything that happens after its start; only invalid arguments reject.
 * - Retries, quota waits and concurrency are handled here and nowhere else.
 * - Every call produces one `CallReport` to the runtime's sink.
 */
export interface LlmRuntime {
  readonly backend: Backend;
  generateText(request: TextRequest): Promise<string>;
  generateObject<S extends z.ZodType>(request: ObjectRequest<S>): Promise<z.output<S>>;
  runAgentLoop(request: LoopRequest): Promise<LoopResult>;
  /** Ends running calls and leaves no process behind. */
  close(): Promise<void>;
}
