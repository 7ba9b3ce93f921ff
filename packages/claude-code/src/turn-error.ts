import type { SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import { LlmError, type LlmErrorCode } from "@tandem/protocol";

/** Maps Claude Code's error names; `refine` handles those that need more context. */
const BY_ASSISTANT_ERROR: Record<string, LlmErrorCode> = {
  authentication_failed: "auth_rejected",
  oauth_org_not_allowed: "auth_rejected",
  account_on_hold: "auth_rejected",
  verification_required: "auth_rejected",
  cloud_credential_error: "auth_rejected",
  billing_error: "billing",
  rate_limit: "rate_limited",
  overloaded: "overloaded",
  server_error: "server_error",
  invalid_request: "invalid_request",
  model_not_found: "unknown_model",
  max_output_tokens: "max_tokens",
};

const BY_STATUS: Record<number, LlmErrorCode> = {
  400: "invalid_request",
  401: "auth_rejected",
  402: "billing",
  403: "auth_rejected",
  404: "unknown_model",
  413: "prompt_too_long",
  429: "rate_limited",
  529: "overloaded",
};

const BY_TERMINAL_REASON: Record<string, LlmErrorCode> = {
  prompt_too_long: "prompt_too_long",
  blocking_limit: "prompt_too_long",
  aborted_streaming: "aborted",
  aborted_tools: "aborted",
  structured_output_retry_exhausted: "structured_output",
};

/** The typed error of a failed turn. */
export function turnError(
  result: SDKResultMessage,
  assistantError: string | undefined,
  resetsAt: Date | undefined,
): LlmError {
  const status = result.subtype === "success" ? (result.api_error_status ?? undefined) : undefined;
  const text = result.subtype === "success" ? result.result : result.errors.join("; ");
  const code = refine(
    BY_TERMINAL_REASON[result.terminal_reason ?? ""] ??
      BY_ASSISTANT_ERROR[assistantError ?? ""] ??
      BY_STATUS[status ?? 0] ??
      "server_error",
    { status, text, stopReason: result.stop_reason },
  );
  return new LlmError(code, sentence(code, text), {
    ...(RENEWAL_REFUSED.test(text) && code === "not_logged_in" && { fix: LOG_IN_AGAIN }),
    ...(status !== undefined && { status }),
    ...(code === "rate_limited" && resetsAt && { resetsAt }),
  });
}

/** The message of Claude Code, or of the sandbox's proxy, for an expired login whose refresh was rejected. It then erases the login. */
const RENEWAL_REFUSED = /could not be refreshed|session expired/i;
const LOG_IN_AGAIN = "Log in again with `tandem login`. Sessions on this login then continue with the next message.";

const NO_LOGIN = /not logged in|please run \/login/i;

const NETWORK_TROUBLE = /connect|socket|network|fetch|resolve|timed? ?out|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|ENETUNREACH/i;

function refine(
  code: LlmErrorCode,
  { status, text, stopReason }: { status: number | undefined; text: string; stopReason: string | null },
): LlmErrorCode {
  // In a sandbox, the proxy of the API answers for a login that is gone.
  if (code === "auth_rejected" && (RENEWAL_REFUSED.test(text) || (status === undefined && NO_LOGIN.test(text))))
    return "not_logged_in";
  if (code === "server_error" && status === 529) return "overloaded";
  if (code === "server_error" && status === undefined && NETWORK_TROUBLE.test(text)) return "network";
  if (code === "invalid_request" && stopReason === "refusal") return "refused";
  if (status === 413) return "prompt_too_long";
  // Any other 4xx is a bad request.
  if (code === "server_error" && status !== undefined && status >= 400 && status < 500) return "invalid_request";
  return code;
}

const sentence = (code: LlmErrorCode, text: string): string =>
  text ? `Claude Code: ${text}` : `Claude Code gave no answer and no reason (${code}).`;
