import { createHmac, randomBytes } from "node:crypto";
import { TandemError } from "@tandem/protocol";

const PREFIX = "whsec_";
const KEY_BYTES = 32;

export const newSigningSecret = (): string => PREFIX + randomBytes(KEY_BYTES).toString("base64");

/** The headers of Standard Webhooks, with one signature per secret. */
export function signDelivery(
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", keyOf(secret)).update(signed).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

function keyOf(secret: string): Buffer {
  const encoded = secret.trim().replace(/^whsec_/, "");
  if (encoded.length === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw new TandemError("bad_signing_secret", "The signing secret is not base64.", {
      fix: `Write it as ${PREFIX} and base64, such as: echo "${PREFIX}$(openssl rand -base64 32)".`,
    });
  }
  return Buffer.from(encoded, "base64");
}
