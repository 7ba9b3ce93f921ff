import { createHmac } from "node:crypto";
import type { Notification } from "./notification.ts";

/** Somebody who takes longer has more to do than to take note. */
const ANSWER_MS = 10_000;

/** Where notifications go, and the key that they are signed with. */
export interface Webhook {
  url: string;
  /** Read anew for each, so that a changed key counts without a restart. */
  secret?: (() => Promise<string>) | undefined;
}

export type Delivery = { type: "delivered" } | { type: "refused" | "failed"; why: string };

/**
 * Sends one. The signature is HMAC-SHA256 over `timestamp.body`, so that neither can be changed and an old one be told from
 * a new one. Redirects are not followed: what is signed for one place goes to no other.
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

/** Whether the same request may be answered otherwise later. */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 429;
