import {
  LlmError,
  TandemError,
  type LlmErrorCode,
  type SessionErrorDetail,
  type SessionErrorType,
} from "@tandem/protocol";

const TYPES: Partial<Record<LlmErrorCode, SessionErrorType>> = {
  overloaded: "model_overloaded_error",
  rate_limited: "model_rate_limited_error",
  billing: "billing_error",
};

/** An error in the form of a `session.error` event. */
export function errorDetail(error: unknown): SessionErrorDetail {
  const known = error instanceof TandemError ? error : undefined;
  const type = error instanceof LlmError ? (TYPES[error.code] ?? "model_request_failed_error") : "unknown_error";
  return {
    type,
    message: known?.message ?? (error instanceof Error ? error.message : String(error)),
    retry_status: { type: "exhausted" },
    tandem: {
      code: known?.code ?? "internal",
      ...(known?.fix && { fix: known.fix }),
      ...(error instanceof LlmError && error.resetsAt && { resets_at: error.resetsAt.toISOString() }),
    },
  };
}
