import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { FORM_BODY } from "@tandem/protocol";
import { WireError } from "../wire-error.ts";

/** Bodies are read after the token check, so the hash of a signed one waits here. */
const signed = new WeakMap<IncomingMessage, string>();

/** `hash`: the body by the request's signature. */
export function expectBody(incoming: IncomingMessage, hash: string): void {
  if (hash !== FORM_BODY) signed.set(incoming, hash);
}

/** Rejects a body that differs from the signed one. */
export function checkSignedBody(incoming: IncomingMessage, bytes: Uint8Array): void {
  const hash = signed.get(incoming);
  if (hash === undefined || hash === createHash("sha256").update(bytes).digest("base64url")) return;
  throw new WireError("unauthorized", "The body differs from the one that was signed.");
}
