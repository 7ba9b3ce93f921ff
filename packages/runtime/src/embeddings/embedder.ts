import type { Wait } from "../llm-runtime.ts";

interface EmbedOptions {
  signal?: AbortSignal;
  onWait?: (wait: Wait) => void;
}

/**
 * Converts texts to vectors: one per text, in order, all of one length, or rejects with an `LlmError`. Retries
 * internally, and never returns a partial result.
 */
export interface Embedder {
  /** Vectors of different models are not comparable. */
  readonly model: string;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}
