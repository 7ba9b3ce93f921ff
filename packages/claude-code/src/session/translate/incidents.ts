import type {
  SDKAPIRetryMessage,
  SDKCompactBoundaryMessage,
  SDKPermissionDeniedMessage,
  SDKRateLimitInfo,
  SDKToolProgressMessage,
} from "@anthropic-ai/claude-agent-sdk";
import type { SessionErrorType, ThreadId } from "@tandem/protocol";
import type { Emit } from "./emit.ts";

const RETRIED: Record<string, SessionErrorType> = {
  rate_limit: "model_rate_limited_error",
  overloaded: "model_overloaded_error",
  billing_error: "billing_error",
};

export interface McpState {
  name: string;
  status: string;
  error?: string;
}

/** Events beside the answers: retries, limits, compactions, denied calls, notices. */
export class Incidents {
  readonly #emit: Emit;
  #retrying = false;
  #limit = "";

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  retry({ attempt, max_retries, retry_delay_ms, error_status, error }: SDKAPIRetryMessage): void {
    this.#emit.event(null, {
      type: "session.error",
      error: {
        type: RETRIED[error] ?? "model_request_failed_error",
        message: `The model request failed (${describe(error, error_status)}) and is made again.`,
        retry_status: { type: "retrying" },
      },
    });
    this.#emit.event(null, {
      type: "tandem.retry",
      attempt,
      max_attempts: max_retries,
      delay_ms: Math.round(retry_delay_ms),
      status: error_status,
      reason: error,
    });
    this.#emit.event(null, { type: "session.status_rescheduled" });
    this.#retrying = true;
  }

  /** The retried request was answered, or the turn is over. */
  retried(): void {
    if (!this.#retrying) return;
    this.#retrying = false;
    this.#emit.event(null, { type: "session.status_running" });
  }

  subagentRetry(thread: ThreadId | null, retry: NonNullable<SDKToolProgressMessage["subagent_retry"]>): void {
    this.#emit.event(thread, {
      type: "tandem.retry",
      attempt: retry.attempt,
      max_attempts: retry.max_retries,
      delay_ms: Math.round(retry.retry_delay_ms),
      status: retry.error_status,
      reason: retry.error_category,
    });
  }

  /** Sent with every answer on a login; emitted only when it changes. */
  rateLimit({ status, rateLimitType, resetsAt, utilization }: SDKRateLimitInfo): void {
    const limit = {
      status,
      ...(rateLimitType && { kind: rateLimitType }),
      ...(resetsAt !== undefined && { resets_at: new Date(resetsAt * 1_000).toISOString() }),
      ...(utilization !== undefined && { utilization }),
    };
    const told = JSON.stringify(limit);
    const quiet = status === "allowed" && (this.#limit === "" || this.#limit.includes('"status":"allowed"'));
    if (told === this.#limit || quiet) return;
    this.#limit = told;
    this.#emit.event(null, { type: "tandem.rate_limit", ...limit });
  }

  compacted({ trigger, pre_tokens, post_tokens }: SDKCompactBoundaryMessage["compact_metadata"]): void {
    this.#emit.event(null, { type: "agent.thread_context_compacted" });
    this.#emit.event(null, {
      type: "tandem.compaction",
      trigger,
      tokens_before: pre_tokens,
      ...(post_tokens !== undefined && { tokens_after: post_tokens }),
    });
  }

  permissionDenied(thread: ThreadId | null, denied: SDKPermissionDeniedMessage): void {
    this.#emit.event(thread, {
      type: "tandem.permission_denied",
      name: denied.tool_name,
      tool_use_id: denied.tool_use_id,
      reason: denied.decision_reason ?? denied.message,
    });
  }

  modelFallback(from: string, to: string, reason: string): void {
    this.#emit.event(null, { type: "tandem.model_fallback", from, to, reason });
  }

  mcpStatus(servers: readonly McpState[]): void {
    this.#emit.event(null, { type: "tandem.mcp_status", servers: [...servers] });
    for (const { name, status, error } of servers) {
      if (status !== "failed" && status !== "needs-auth") continue;
      this.#emit.event(null, {
        type: "session.error",
        error: {
          type: status === "failed" ? "mcp_connection_failed_error" : "mcp_authentication_failed_error",
          message: `The MCP server ${name} cannot be used: ${error ?? "it asks for a login"}`,
          retry_status: { type: "exhausted" },
          mcp_server_name: name,
        },
      });
    }
  }

  notice(level: "info" | "warning" | "error", text: string): void {
    this.#emit.event(null, { type: "tandem.notice", level, text });
  }
}

const describe = (error: string, status: number | null): string =>
  status === null ? error.replaceAll("_", " ") : `${error.replaceAll("_", " ")}, status ${status}`;
