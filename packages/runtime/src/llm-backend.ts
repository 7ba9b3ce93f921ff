import type { Backend, ModelDetails, Payer, Usage } from "@tandem/protocol";
import type { Tool } from "./tool.ts";
import type { StepFinished } from "./llm-runtime.ts";

/**
 * Runs one retriable unit (a model request, or where the engine owns the conversation, the whole call) under the
 * runtime's limits: waits for a slot, tries again, waits for quotas. `operation` gets the number of the try, from 1,
 * rejects with an `LlmError`, and must not retry by itself.
 */
export type Attempt = <T>(operation: (attempt: number) => Promise<T>) => Promise<T>;

export interface BackendCall {
  /** An id as this backend's service spells it; for claude-code also an alias (`sonnet`). */
  model: string;
  system: string | undefined;
  prompt: string;
  signal: AbortSignal;
  attempt: Attempt;
  /**
   * Called once for each model request that was answered, with the id that answered, whatever comes of the call: money
   * spent is never lost sight of. One request at a time, because the price of some models depends on its length.
   */
  onUsage: (model: string, usage: Usage) => void;
}

export interface BackendObjectCall extends BackendCall {
  /** Draft 7, an object at its root, no `$schema`. */
  jsonSchema: Record<string, unknown>;
  /** What is wrong with the value, in words for the model; undefined if it fits. */
  check: (value: unknown) => string | undefined;
}

export interface BackendLoopCall extends BackendCall {
  tools: readonly Tool[];
  stepBudget: number;
  /** Called when the tools of a step have run, the last one's too: the runtime counts by it. Never rejects. */
  onStepFinish: (step: StepFinished) => Promise<void>;
}

export interface LoopAnswer {
  stopReason: "natural" | "budget";
  /** The last text of the model; empty if it gave none. */
  text: string;
}

export interface ModelInfo extends ModelDetails {
  id: string;
  name: string;
  /** What else this backend takes for it. */
  aliases?: readonly string[];
}

/**
 * What stands behind a runtime. Each operation rejects with an `LlmError` and nothing else, sends `system` as the system
 * prompt, stops within a second of `signal`, and goes through `attempt` for whatever may be tried again.
 */
export interface LlmBackend {
  readonly name: Backend;
  readonly payer: Payer;
  /** Never empty. */
  text(call: BackendCall): Promise<string>;
  /** A value that `check` passed. A misfit is given back to the model once; a second one is `structured_output`. */
  object(call: BackendObjectCall): Promise<unknown>;
  loop(call: BackendLoopCall): Promise<LoopAnswer>;
  /** What the service offers; rejects where it cannot be reached. */
  listModels(signal: AbortSignal): Promise<ModelInfo[]>;
  close(): Promise<void>;
}
