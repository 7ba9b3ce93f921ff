import { createPublicKey, verify, type KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { FORM_BODY, PAGE_SIGNATURE_HEADER, PAGE_TIME_HEADER, pageSignatureText } from "@tandem/protocol";
import { sha256 } from "../access/sha256.ts";
import { hasBody } from "../request/read-body.ts";
import { expectBody } from "../request/signed-body.ts";
import { WireError } from "../wire-error.ts";

/** A request may wait that long for a free connection of its browser. */
const WINDOW_MS = 5 * 60_000;
const POINT_BYTES = 65;
/** Key, time, nonce, body (a hash, `form` or nothing) and signature. */
const HEADER = /^([\w-]{87})\.(\d{1,15})\.([\w-]{22})\.([\w-]{43}|form|)\.([\w-]{86})$/;

/** A signature whose key is not yet known to be signed in. */
export interface PageSignature {
  /** The stored form of the key. A token's hash has no prefix, so no text is valid as both. */
  hash: string;
  key: string;
  time: number;
  nonce: string;
  body: string;
  signature: Buffer;
}

/** The stored form of a browser's public key; undefined if it is not a point of P-256. */
export const pageKeyHash = (key: string): string | undefined => (publicKey(key) ? hashOf(key) : undefined);

/** Whether a stored token is a browser's key. */
export const isPageKey = ({ sha256: hash }: { sha256: string }): boolean => hash.startsWith(PREFIX);

/** Checks the page's signatures. Each is valid once and for a few minutes. */
export class PageSignatures {
  /** Nonces of before are unknown, so older signatures are refused. The page then signs again. */
  readonly #startedAt = Date.now();
  /** Used nonces with the time of their arrival, oldest first. */
  readonly #used = new Map<string, number>();

  /** The signature of a request, not yet verified; undefined without a well-formed one. */
  read({ headers }: Pick<IncomingMessage, "headers">): PageSignature | undefined {
    const value = headers[PAGE_SIGNATURE_HEADER];
    const found = typeof value === "string" ? HEADER.exec(value) : null;
    if (!found) return undefined;
    const [, key = "", time, nonce = "", body = "", signature = ""] = found;
    return { hash: hashOf(key), key, time: Number(time), nonce, body, signature: Buffer.from(signature, "base64url") };
  }

  /** Returns false for a wrong signature. Rejects a correct one that is stale or was used before. */
  verify(incoming: IncomingMessage, given: PageSignature, now = Date.now()): boolean {
    const { method = "", url: target = "" } = incoming;
    const { key, time, nonce, body, signature } = given;
    const point = publicKey(key);
    const text = Buffer.from(pageSignatureText({ method, target, time, nonce, body }));
    if (!point || !verify("sha256", text, { key: point, dsaEncoding: "ieee-p1363" }, signature)) return false;
    if (!fitsBody(incoming, body)) return false;
    if (Math.abs(now - time) > WINDOW_MS || time < this.#startedAt) throw stale(now);
    this.#use(`${key}.${nonce}`, now);
    expectBody(incoming, body);
    return true;
  }

  #use(name: string, now: number): void {
    // A signature from the future stays valid for up to two windows.
    for (const [other, at] of this.#used) {
      if (now - at <= 2 * WINDOW_MS) break;
      this.#used.delete(other);
    }
    if (this.#used.has(name)) {
      // Not 401, which means that the browser is not signed in. A browser sends a request again if its connection broke; the
      // page then signs again what only reads.
      const headers = { [PAGE_TIME_HEADER]: String(now) };
      throw new WireError("repeated", "This request was received before.", { fix: "Try again.", headers });
    }
    this.#used.set(name, now);
  }
}

const PREFIX = "page:";
const hashOf = (key: string): string => `${PREFIX}${sha256(key)}`;

function publicKey(key: string): KeyObject | undefined {
  const point = Buffer.from(key, "base64url");
  if (point.length !== POINT_BYTES || point[0] !== 4) return undefined;
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  try {
    return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  } catch {
    return undefined;
  }
}

function fitsBody(incoming: IncomingMessage, body: string): boolean {
  if (body === "") return !hasBody(incoming);
  const isForm = incoming.headers["content-type"]?.startsWith("multipart/form-data") ?? false;
  return hasBody(incoming) && isForm === (body === FORM_BODY);
}

const stale = (now: number): WireError =>
  new WireError("unauthorized", "The signature of the page is too old.", {
    fix: "Reload the page.",
    headers: { [PAGE_TIME_HEADER]: String(now) },
  });
