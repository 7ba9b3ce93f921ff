export type SessionErrorType =
  | "unknown_error"
  | "model_overloaded_error"
  | "model_rate_limited_error"
  | "model_request_failed_error"
  | "billing_error"
  | "tool_use_limit_reached_error"
  | "compaction_limit_reached_error";

type McpErrorType = "mcp_connection_failed_error" | "mcp_authentication_failed_error";

/** The session continues without the repository, so these are always `retrying`. */
type RepositoryErrorType =
  | "repository_authentication_error"
  | "repository_forbidden_error"
  | "repository_not_found_error"
  | "repository_checkout_error"
  | "repository_clone_error";

interface ErrorBase {
  message: string;
  retry_status: { type: "retrying" | "exhausted" | "terminal" };
  /** Our stable error code and the fix. */
  tandem?: { code: string; fix?: string; resets_at?: string };
}

/** The error of a `session.error` event. */
export type SessionErrorDetail =
  | (ErrorBase & { type: SessionErrorType })
  | (ErrorBase & { type: McpErrorType; mcp_server_name: string })
  /** `repository_url` is null if the repository could not be identified. */
  | (ErrorBase & { type: RepositoryErrorType; repository_url: string | null })
  | (ErrorBase & { type: "credential_host_unreachable_error"; credential_id: string; vault_id: string });
