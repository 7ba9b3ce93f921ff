// What the main thread and the thread with the model say to each other.

export interface OnnxThreadData {
  /** Where the libraries are, as URLs. */
  runtime: string;
  tokenizers: string;
  folder: string;
}

export type OnnxRequest = { id: number; texts: readonly string[] };

export type OnnxReply =
  /** The model is loaded, or cannot be. */
  | { type: "loaded"; error?: string }
  | { type: "done"; id: number; vectors: Float32Array[] }
  | { type: "failed"; id: number; error: string };
