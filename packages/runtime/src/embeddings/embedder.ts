import type { Wait } from "../llm-runtime.ts";

export interface EmbedOptions {
  signal?: AbortSignal;
  onWait?: (wait: Wait) => void;
}

/**
 * Makes vectors of texts. Each call gives one vector for each text, in their order, all of one length; or rejects with an
 * `LlmError`. It owns its retries, and never gives a part.
 */
export interface Embedder {
  /** Vectors of different models are not comparable. */
  readonly model: string;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}
