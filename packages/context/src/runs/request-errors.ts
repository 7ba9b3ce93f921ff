import type { LlmErrorCode } from "@tandem/protocol";

/** Errors about one request: another one may succeed. After any other error, none would. */
export const REQUEST_ERRORS: ReadonlySet<LlmErrorCode> = new Set([
  "refused",
  "empty_answer",
  "max_tokens",
  "structured_output",
  "prompt_too_long",
  "invalid_request",
]);

/** Errors about one task of an agent. */
export const TASK_ERRORS: ReadonlySet<LlmErrorCode> = new Set([...REQUEST_ERRORS, "timeout", "process_died"]);
