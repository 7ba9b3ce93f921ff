import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { TriggerVerification } from "@tandem/protocol";

/** How far a signed time may be from now, in both directions. */
const TOLERANCE_SECONDS = 300;

export interface InboundDelivery {
  /** `name` in lower case. */
  header: (name: string) => string | undefined;
  /** As it arrived: the signature covers its bytes. */
  body: Uint8Array;
}

export interface VerifiedDelivery {
  /** The same for the same signed bytes. A second delivery with it is a replay. */
  fingerprint: string;
  /** The sender's id; null if it sent none. */
  id: string | null;
  /** Whether the signature covers the id: then a delivery with the same id is a retry. */
  isIdSigned: boolean;
  /** The name in the header of the event; null if there is none. */
  event: string | null;
}

export type Verification = { ok: true; delivery: VerifiedDelivery } | { ok: false; reason: string };

/** Checks the signature of a delivery. Pure; `nowMs` bounds the age of schemes that sign the time. */
export function verifyDelivery(
  delivery: InboundDelivery,
  how: TriggerVerification,
  secret: string,
  nowMs: number,
): Verification {
  switch (how.type) {
    case "github":
      return verifyGithub(delivery, secret);
    case "standard_webhooks":
      return verifyStandardWebhook(delivery, secret, nowMs);
    case "hmac":
      return verifyHmac(delivery, how, secret, nowMs);
  }
}

function verifyGithub({ header, body }: InboundDelivery, secret: string): Verification {
  const given = /^sha256=([0-9a-f]{64})$/i.exec(header("x-hub-signature-256") ?? "")?.[1];
  if (given === undefined) return refused("the header x-hub-signature-256 is missing");
  const expected = createHmac("sha256", secret).update(body).digest();
  if (!isSame(Buffer.from(given, "hex"), expected)) return refused("the signature does not match");
  return accepted({
    signed: expected,
    // GitHub signs neither of these two headers.
    id: header("x-github-delivery"),
    isIdSigned: false,
    event: header("x-github-event"),
  });
}

function verifyStandardWebhook({ header, body }: InboundDelivery, secret: string, nowMs: number): Verification {
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const signatures = header("webhook-signature");
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    return refused("a header is missing: webhook-id, webhook-timestamp or webhook-signature");
  }
  const late = checkTime(timestamp, nowMs);
  if (late !== undefined) return refused(late);
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const isValid = signatures
    .split(" ")
    .some((each) => each.startsWith("v1,") && isSame(Buffer.from(each.slice(3), "base64"), expected));
  if (!isValid) return refused("the signature does not match");
  return accepted({ signed: expected, id, isIdSigned: true, event: undefined });
}

function verifyHmac(
  { header: lowerCase, body }: InboundDelivery,
  how: Extract<TriggerVerification, { type: "hmac" }>,
  secret: string,
  nowMs: number,
): Verification {
  const header = (name: string): string | undefined => lowerCase(name.toLowerCase());
  const given = header(how.header);
  if (given === undefined) return refused(`the header ${how.header} is missing`);
  if (!given.startsWith(how.prefix)) return refused(`the signature does not begin with ${how.prefix}`);
  const timestamp = how.timestamp_header === undefined ? "" : (header(how.timestamp_header) ?? "");
  const late = how.timestamp_header === undefined ? undefined : checkTime(timestamp, nowMs);
  if (late !== undefined) return refused(late);
  const hash = createHmac(how.algorithm, secret);
  // The pieces are hashed one by one: a body need not be valid UTF-8.
  how.signed.split(/(\{body\}|\{timestamp\})/).forEach((piece) => {
    hash.update(piece === "{body}" ? body : piece === "{timestamp}" ? timestamp : piece);
  });
  const expected = hash.digest();
  const signature = given.slice(how.prefix.length);
  const isWellFormed = how.encoding === "hex" ? /^[0-9a-f]+$/i.test(signature) : /^[\w+/-]+=*$/.test(signature);
  if (!isWellFormed || !isSame(Buffer.from(signature, how.encoding), expected)) {
    return refused("the signature does not match");
  }
  return accepted({
    signed: expected,
    id: how.id_header && header(how.id_header),
    isIdSigned: false,
    event: how.event_header && header(how.event_header),
  });
}

function checkTime(timestamp: string, nowMs: number): string | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return "the signed time is not a number of seconds";
  const isFar = Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS;
  return isFar ? `the signed time is more than ${TOLERANCE_SECONDS} seconds from now` : undefined;
}

const isSame = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

const refused = (reason: string): Verification => ({ ok: false, reason });

const accepted = (delivery: {
  signed: Uint8Array;
  id: string | undefined;
  isIdSigned: boolean;
  event: string | undefined;
}): Verification => ({
  ok: true,
  delivery: {
    fingerprint: createHash("sha256").update(delivery.signed).digest("hex"),
    id: delivery.id?.slice(0, 200) ?? null,
    isIdSigned: delivery.isIdSigned,
    event: delivery.event?.slice(0, 100) ?? null,
  },
});
