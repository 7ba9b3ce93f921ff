import type { Backend, ModelDetails, Payer, Usage } from "@tandem/protocol";
import type { Tool } from "./tool.ts";
import type { StepFinished } from "./llm-runtime.ts";

/**
 * Runs one retryable unit under the runtime's limits: waits for a slot, retries, waits for quotas. The unit is a model
 * request, or the whole call if the engine owns the conversation. `operation` gets the attempt number (from 1), rejects
 * with an `LlmError`, and must not retry itself.
 */
export type Attempt = <T>(operation: (attempt: number) => Promise<T>) => Promise<T>;

export interface BackendCall {
  /** The service's model id; for claude-code also an alias (`sonnet`). */
  model: string;
  system: string | undefined;
  prompt: string;
  temperature: number | undefined;
  signal: AbortSignal;
  attempt: Attempt;
  /**
   * Called once per answered model request with the answering model's id, even if the call fails later, so that spent
   * money is always counted. Per request, because some prices depend on its length.
   */
  onUsage: (model: string, usage: Usage) => void;
  /** Called for an option of the request that has no effect on this backend or model. */
  onIgnored: (option: string, why: string) => void;
}

export interface BackendTextCall extends BackendCall {
  /** Tools that the model may call before its answer; may be empty. */
  tools: readonly Tool[];
  /** Maximum number of model requests, if there are tools. */
  stepBudget: number;
}

export interface BackendObjectCall extends BackendTextCall {
  /** Draft 7, an object at the root, no `$schema`. */
  jsonSchema: Record<string, unknown>;
  /** Describes schema violations for the model; undefined if the value is valid. */
  check: (value: unknown) => string | undefined;
}

export interface BackendLoopCall extends BackendTextCall {
  /**
   * Called after the tools of each step have run, including the last; the runtime counts steps with it. Never rejects.
   */
  onStepFinish: (step: StepFinished) => Promise<void>;
}

export interface LoopAnswer {
  stopReason: "natural" | "budget";
  /** The model's last text; may be empty. */
  text: string;
}

export interface ModelInfo extends ModelDetails {
  id: string;
  name: string;
  /** Other names that this backend accepts for the model. */
  aliases?: readonly string[];
}

/**
 * The port behind a runtime. Each operation rejects only with an `LlmError`, sends `system` as the system prompt, stops
 * within a second of `signal`, and runs everything retryable through `attempt`.
 */
export interface LlmBackend {
  readonly name: Backend;
  readonly payer: Payer;
  /** Never empty. A model that spends its step budget on tools gave no answer: `empty_answer`. */
  text(call: BackendTextCall): Promise<string>;
  /** A value accepted by `check`. An invalid one is returned to the model once; a second one is `structured_output`. */
  object(call: BackendObjectCall): Promise<unknown>;
  loop(call: BackendLoopCall): Promise<LoopAnswer>;
  /** Models of the service; rejects if it cannot be reached. */
  listModels(signal: AbortSignal): Promise<ModelInfo[]>;
  close(): Promise<void>;
}
