import { TandemError } from "./tandem-error.ts";

/** Why an LLM operation failed; the same codes on every backend. Callers can rely on each code's comment. */
export type LlmErrorCode =
  /** No backend, or a backend that lacks a key or project. Nothing was sent. */
  | "not_configured"
  /** The local Claude Code has no login, or an expired one. Nothing was sent. */
  | "not_logged_in"
  /** The credential was sent and refused. */
  | "auth_rejected"
  /** A quota is exhausted until `resetsAt`, if the server sent it. */
  | "rate_limited"
  /** The service runs but is overloaded (529). */
  | "overloaded"
  /** The account cannot pay. */
  | "billing"
  | "prompt_too_long"
  /** The model declined to answer. */
  | "refused"
  /** The model answered with nothing. */
  | "empty_answer"
  /** The answer was cut at the output limit. */
  | "max_tokens"
  /** The model returned no object that matches the schema. */
  | "structured_output"
  /** A deadline expired; the message names it. */
  | "timeout"
  /** The caller aborted. */
  | "aborted"
  /** The Claude Code process exited unexpectedly; the message has the tail of its stderr. */
  | "process_died"
  /** The conversation to resume is not stored. */
  | "no_conversation"
  /** Claude Code started with unexpected tools, servers or plugins and was ended at once. */
  | "isolation_breached"
  | "unknown_model"
  /** The request was invalid; a retry cannot help. */
  | "invalid_request"
  /** The service failed (5xx other than overload). */
  | "server_error"
  /** The service could not be reached, or the connection broke. */
  | "network";

/** Retryable after a delay. A quota is retried at its reset time instead. */
const TRANSIENT: ReadonlySet<LlmErrorCode> = new Set(["overloaded", "server_error", "network", "process_died"]);

const FIXES: Record<LlmErrorCode, string> = {
  not_configured: "Run `tandem setup`, or set llm.provider.backend in tandem.yaml.",
  not_logged_in: "Log in with `tandem login` and try again.",
  auth_rejected: "Check the credential that `tandem status` names, or log in again.",
  rate_limited: "Wait for the reset, raise llm.limits.patience, or use another account's key.",
  overloaded: "Try again in a few minutes.",
  billing: "Add credit to the account that `tandem status` names under billing, or choose another credential.",
  prompt_too_long: "Shorten the prompt, or choose a model with a larger context window.",
  refused: "Rephrase the prompt, or choose another model.",
  empty_answer: "Rephrase the prompt, or choose another model.",
  max_tokens: "Ask for a shorter answer.",
  structured_output: "Simplify the schema or the prompt, or choose a stronger model.",
  timeout: "Try again; if it is slow by nature, raise the deadline that the message names under llm.limits.",
  aborted: "",
  no_conversation: "Begin a new session.",
  process_died: "Run `tandem doctor`; the message has the end of the process's stderr.",
  isolation_breached: "Run `tandem doctor`; a managed policy or a newer Claude Code may add tools of its own.",
  unknown_model: "List the models with `tandem models` and set llm.models in tandem.yaml.",
  invalid_request: "This is likely a bug in the request; run again with --debug to see it.",
  server_error: "Try again in a few minutes.",
  network: "Check the network, proxy and base URL with `tandem doctor`.",
};

export class LlmError extends TandemError {
  declare readonly code: LlmErrorCode;
  /** When the exhausted quota resets, if known. Only with `rate_limited`. */
  readonly resetsAt: Date | undefined;
  /** The delay that the server requested before a retry, if any. */
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  /** Do not retry, although errors with this code are usually retryable. */
  readonly final: boolean;

  constructor(
    code: LlmErrorCode,
    message: string,
    options: {
      fix?: string;
      cause?: unknown;
      resetsAt?: Date;
      retryAfterMs?: number;
      status?: number;
      final?: boolean;
    } = {},
  ) {
    super(code, message, { fix: options.fix ?? FIXES[code], cause: options.cause });
    this.resetsAt = options.resetsAt;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.final = options.final ?? false;
  }

  get transient(): boolean {
    return !this.final && TRANSIENT.has(this.code);
  }

  override toJSON(): Record<string, unknown> {
    return {
      ...super.toJSON(),
      ...(this.status !== undefined && { status: this.status }),
      ...(this.resetsAt && { resetsAt: this.resetsAt.toISOString() }),
      ...(this.retryAfterMs !== undefined && { retryAfterMs: this.retryAfterMs }),
    };
  }
}
