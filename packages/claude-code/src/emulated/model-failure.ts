import type { SDKRateLimitInfo } from "@anthropic-ai/claude-agent-sdk";
import type { ModelFailure } from "./stream-model.ts";

/** As many as Claude Code makes. */
export const MAX_RETRIES = 10;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 32_000;

const RETRIED: ReadonlySet<number | null> = new Set([null, 408, 409, 429, 500, 502, 503, 504, 529]);

/** The rejected limit of a subscription, if that is why the request failed. */
export function planLimitOf({ headers }: ModelFailure): SDKRateLimitInfo | undefined {
  if (headers.get("anthropic-ratelimit-unified-status") !== "rejected") return undefined;
  const reset = Number(headers.get("anthropic-ratelimit-unified-reset"));
  const claim = headers.get("anthropic-ratelimit-unified-representative-claim");
  return {
    status: "rejected",
    ...(reset > 0 && { resetsAt: reset }),
    ...(claim && { rateLimitType: claim as NonNullable<SDKRateLimitInfo["rateLimitType"]> }),
  };
}

/** The wait before the next attempt; undefined if there is none. */
export function retryDelay(failure: ModelFailure, attempt: number): number | undefined {
  if (failure.headers.get("x-should-retry") === "false") return undefined;
  if (attempt > MAX_RETRIES || !RETRIED.has(failure.status) || planLimitOf(failure)) return undefined;
  const asked = Number(failure.headers.get("retry-after")) * 1_000;
  return asked > 0 ? asked : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
}

const CREDIT = /credit balance/i;

/** Claude Code's name for the cause. */
export function causeOf({ status, message }: ModelFailure): string {
  switch (status) {
    case 401:
    case 403:
      return "authentication_failed";
    case 402:
      return "billing_error";
    case 404:
      return "model_not_found";
    case 429:
      return "rate_limit";
    case 529:
      return "overloaded";
    case 400:
    case 413:
      return CREDIT.test(message) ? "billing_error" : "invalid_request";
    default:
      return status === null ? "unknown" : "server_error";
  }
}
