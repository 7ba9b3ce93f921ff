import { createHmac } from "node:crypto";
import type { Notification } from "./notification.ts";

/** The timeout of a webhook. */
const ANSWER_MS = 10_000;

/** A webhook's URL and signing key. */
export interface Webhook {
  url: string;
  /** Read for each request, so that a changed key applies without a restart. */
  secret?: (() => Promise<string>) | undefined;
}

export type Delivery = { type: "delivered" } | { type: "refused" | "failed"; why: string };

/**
 * Sends a notification. The signature is HMAC-SHA256 over `timestamp.body`, which protects both and detects replays. Redirects
 * are not followed: a signed request goes to its target only.
 */
export async function sendWebhook(
  webhook: Webhook,
  id: string,
  notification: Notification,
  stop?: AbortSignal,
): Promise<Delivery> {
  const body = JSON.stringify({ id, ...notification });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  try {
    const secret = await webhook.secret?.();
    const response = await fetch(webhook.url, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS), ...(stop ? [stop] : [])]),
      headers: {
        "content-type": "application/json",
        "user-agent": "tandem",
        "tandem-delivery": id,
        "tandem-timestamp": timestamp,
        ...(secret !== undefined && { "tandem-signature": `v1=${sign(secret, timestamp, body)}` }),
      },
      body,
    });
    await response.body?.cancel();
    if (response.ok) return { type: "delivered" };
    const why = `it answered ${response.status}`;
    return { type: isPassing(response.status) ? "failed" : "refused", why };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { type: "failed", why: cause instanceof Error ? cause.message : String(cause) };
  }
}

const sign = (secret: string, timestamp: string, body: string): string =>
  createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");

/** Whether a retry may succeed. */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 429;
