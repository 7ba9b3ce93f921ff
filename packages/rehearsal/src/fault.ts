import type { BrokenReply, ErrorReply } from "./reply.ts";

interface FailOptions {
  readonly type?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const typeByStatus: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export function fail(status: number, options: FailOptions = {}): ErrorReply {
  return {
    type: "error",
    status,
    errorType: options.type ?? typeByStatus[status] ?? "api_error",
    message: options.message ?? `Rehearsed failure with status ${status}.`,
    headers: options.headers ?? {},
  };
}

/** The API's limit on requests or tokens per minute. */
export function rateLimited(options: { retryAfterSeconds?: number } = {}): ErrorReply {
  const seconds = options.retryAfterSeconds ?? 1;
  const reset = new Date(Date.now() + seconds * 1000).toISOString();
  return fail(429, {
    message: "This request would exceed your organization's rate limit.",
    headers: {
      "retry-after": String(seconds),
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": reset,
    },
  });
}

/** The limit of a subscription plan, which Claude Code shows with its reset time. */
export function planLimit(
  options: { resetsAt?: Date; limit?: "five_hour" | "seven_day" | "seven_day_opus" | "seven_day_sonnet" } = {},
): ErrorReply {
  const resetsAt = options.resetsAt ?? new Date(Date.now() + 3_600_000);
  const reset = String(Math.floor(resetsAt.getTime() / 1000));
  return fail(429, {
    message: "This request would exceed your account's rate limit. Please try again later.",
    headers: {
      "retry-after": String(Math.max(0, Math.ceil((resetsAt.getTime() - Date.now()) / 1000))),
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": reset,
      "anthropic-ratelimit-unified-representative-claim": options.limit ?? "five_hour",
      "anthropic-ratelimit-unified-overage-status": "rejected",
      "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
    },
  });
}

export function overloaded(): ErrorReply {
  return fail(529, { message: "Overloaded" });
}

export function serverError(): ErrorReply {
  return fail(500, { message: "Internal server error" });
}

export function badRequest(message = "messages: at least one message is required"): ErrorReply {
  return fail(400, { message });
}

export function unauthorized(): ErrorReply {
  return fail(401, { message: "invalid x-api-key" });
}

export function forbidden(message = "Your account does not have access to this resource."): ErrorReply {
  return fail(403, { message });
}

export function modelNotFound(model = "unknown"): ErrorReply {
  return fail(404, { message: `model: ${model}` });
}

export function creditTooLow(): ErrorReply {
  return badRequest(
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  );
}

export function promptTooLong(tokens = 210_000, maximum = 200_000): ErrorReply {
  return badRequest(`prompt is too long: ${tokens} tokens > ${maximum} maximum`);
}

/** The request is accepted and never answered. */
export function stallBeforeFirstByte(): BrokenReply {
  return { type: "stall" };
}

export function stallMidStream(afterText = "It begins well and then"): BrokenReply {
  return { type: "stall", afterText };
}

/** Without `afterText` the connection is cut before the first byte. */
export function cutConnection(options: { afterText?: string } = {}): BrokenReply {
  return { type: "cut", afterText: options.afterText };
}

export function malformedStream(afterText = "It begins well and then"): BrokenReply {
  return { type: "malformed", afterText };
}

/** A stream that starts with 200 and then contains an error event. */
export function failMidStream(
  afterText = "It begins well and then",
  error: { type: string; message: string } = { type: "overloaded_error", message: "Overloaded" },
): BrokenReply {
  return { type: "stream_error", afterText, error };
}
