import { createHmac } from "node:crypto";
import { triggerVerification, type TriggerVerification } from "@tandem/protocol";
import { expect, test } from "vitest";
import { verifyDelivery } from "./verify-delivery.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const BODY = Buffer.from('{"action":"opened"}');
const SECRET = "a secret of some length";
const hmac = (key: string | Buffer, text: string, encoding: "hex" | "base64" = "hex", algorithm = "sha256") =>
  createHmac(algorithm, key).update(text).digest(encoding);

function verify(
  how: TriggerVerification,
  headers: Record<string, string>,
  { body = BODY, secret = SECRET }: { body?: Buffer; secret?: string } = {},
) {
  return verifyDelivery({ header: (name) => headers[name], body }, how, secret, NOW);
}

test("GitHub: the signature of the body decides, and a changed body fails", () => {
  const headers = {
    "x-hub-signature-256": `sha256=${hmac(SECRET, BODY.toString())}`,
    "x-github-delivery": "d-1",
    "x-github-event": "issues",
  };
  const good = verify({ type: "github" }, headers);
  expect(good).toMatchObject({ ok: true, delivery: { id: "d-1", isIdSigned: false, event: "issues" } });
  // The id is not signed: the same body under another id is the same delivery.
  const renamed = verify({ type: "github" }, { ...headers, "x-github-delivery": "d-2" });
  expect(renamed.ok && good.ok && renamed.delivery.fingerprint === good.delivery.fingerprint).toBe(true);
  for (const bad of [
    verify({ type: "github" }, headers, { body: Buffer.from("{}") }),
    verify({ type: "github" }, headers, { secret: "another secret of length" }),
    verify({ type: "github" }, {}),
    verify({ type: "github" }, { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }),
    verify({ type: "github" }, { "x-hub-signature": `sha1=${hmac(SECRET, BODY.toString(), "hex", "sha1")}` }),
  ])
    expect(bad.ok).toBe(false);
});

test("Standard Webhooks: id, time and body are signed, and old deliveries fail", () => {
  const key = Buffer.alloc(32, 7);
  const secret = `whsec_${key.toString("base64")}`;
  const signed = (id: string, at: number) => ({
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,AAAA v1,${hmac(key, `${id}.${at}.${BODY.toString()}`, "base64")}`,
  });
  const how = { type: "standard_webhooks" } as const;
  const now = NOW / 1_000;
  expect(verify(how, signed("m1", now), { secret })).toMatchObject({
    ok: true,
    delivery: { id: "m1", isIdSigned: true },
  });
  expect(verify(how, signed("m1", now - 299), { secret }).ok).toBe(true);
  expect(verify(how, signed("m1", now - 301), { secret })).toMatchObject({ ok: false });
  expect(verify(how, signed("m1", now + 301), { secret })).toMatchObject({ ok: false });
  expect(verify(how, { ...signed("m1", now), "webhook-id": "m2" }, { secret })).toMatchObject({ ok: false });
  expect(verify(how, { ...signed("m1", now), "webhook-timestamp": "soon" }, { secret })).toMatchObject({ ok: false });
});

test("a generic HMAC: Slack's scheme, and a plain one in base64", () => {
  const at = NOW / 1_000;
  const slack = triggerVerification.parse({
    type: "hmac",
    header: "X-Slack-Signature",
    prefix: "v0=",
    signed: "v0:{timestamp}:{body}",
    timestamp_header: "X-Slack-Request-Timestamp",
  });
  const headers = (time: number) => ({
    "x-slack-signature": `v0=${hmac(SECRET, `v0:${time}:${BODY.toString()}`)}`,
    "x-slack-request-timestamp": String(time),
  });
  expect(verify(slack, headers(at)).ok).toBe(true);
  expect(verify(slack, headers(at - 1_000)).ok).toBe(false);
  expect(verify(slack, { ...headers(at), "x-slack-request-timestamp": String(at + 1) }).ok).toBe(false);
  const plain = triggerVerification.parse({ type: "hmac", encoding: "base64", algorithm: "sha512" });
  expect(verify(plain, { "x-signature": hmac(SECRET, BODY.toString(), "base64", "sha512") }).ok).toBe(true);
  expect(verify(plain, { "x-signature": "" }).ok).toBe(false);
  expect(triggerVerification.safeParse({ type: "hmac", signed: "{timestamp}.{body}" }).success).toBe(false);
  expect(triggerVerification.safeParse({ type: "hmac", signed: "no body" }).success).toBe(false);
});
