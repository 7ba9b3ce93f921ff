import type { Usage } from "./usage.ts";

/** Operations of Anthropic's Messages API that a backend may pass through. */
export type MessagesOperation = "create" | "count_tokens";

/** A request to the Messages API, as its caller wrote it. */
export interface PassedRequest {
  operation: MessagesOperation;
  body: Uint8Array;
  /** The same body, parsed. */
  parsed: { model: string; stream?: boolean | undefined; [field: string]: unknown };
  /** The caller's `anthropic-version` and `anthropic-beta`. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** The upstream's answer, including errors. */
export interface PassedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Rejects with an `LlmError` if the answer breaks off or a deadline expires. */
  body: AsyncIterable<Uint8Array>;
  /** Read so far from the passing body. Undefined before the first count. */
  usage(): { model: string; usage: Usage } | undefined;
}

/** Passes requests of the Messages API to the configured backend, with its own credential. */
export interface MessagesProxy {
  /** Rejects with an `LlmError` if there is no answer. */
  send(request: PassedRequest): Promise<PassedAnswer>;
}
