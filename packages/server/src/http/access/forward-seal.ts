import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { RequestError } from "@tandem/protocol";
import type { Records, TokenRow } from "@tandem/storage";
import { z } from "zod";
import { forwardedId } from "../request/forwarded-id.ts";

/** Names the browser for which a request was forwarded: time, stored key and MAC. */
export const SEAL_HEADER = "tandem-passed-as";

const SPACE = "page";
const KIND = "forward_key";
const KEY = "hmac";
/** Clocks of machines differ. A seal is for one request, so that a longer time permits nothing else. */
const WINDOW_MS = 300_000;
const stored = z.object({ secret: z.string() });

/**
 * Vouches for a forwarded request of the page. Its own signature is valid once and for one address only, but a request
 * may be sent to several processes. The key is in the database, whose readers could create tokens anyway.
 */
export class ForwardSeal {
  readonly #records: Records | undefined;
  #secret: Promise<string> | undefined;

  /** Without records, only this process accepts its seals. */
  constructor(records: Records | undefined) {
    this.#records = records;
  }

  async create(
    request: { method: string; url: string; id: string },
    { sha256 }: TokenRow,
    now = Date.now(),
  ): Promise<string> {
    return `${now}.${sha256}.${mac(await this.#load(), { ...request, sha256, time: now })}`;
  }

  /** The stored key of the browser; undefined without a valid seal. */
  async open(incoming: IncomingMessage, now = Date.now()): Promise<string | undefined> {
    const id = forwardedId(incoming);
    const value = incoming.headers[SEAL_HEADER];
    const found = typeof value === "string" ? /^(\d{1,15})\.(page:[0-9a-f]{64})\.([\w-]{43})$/.exec(value) : null;
    if (id === undefined || !found) return undefined;
    const [, time, sha256 = "", given = ""] = found;
    if (Math.abs(now - Number(time)) > WINDOW_MS) return undefined;
    const { method = "", url = "" } = incoming;
    const expected = mac(await this.#load(), { method, url, id, sha256, time: Number(time) });
    return timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? sha256 : undefined;
  }

  #load(): Promise<string> {
    this.#secret ??= this.#read();
    this.#secret.catch(() => (this.#secret = undefined));
    return this.#secret;
  }

  async #read(): Promise<string> {
    const own = randomBytes(32).toString("base64url");
    if (!this.#records) return own;
    const found = await this.#records.get(SPACE, KIND, KEY);
    if (found) return stored.parse(found.value).secret;
    try {
      await this.#records.write(SPACE, [{ type: "put", kind: KIND, key: KEY, value: { secret: own }, version: 0 }]);
      return own;
    } catch (error) {
      // Another process wrote its key first.
      if (error instanceof RequestError && error.code === "conflict") return this.#read();
      throw error;
    }
  }
}

const mac = (
  secret: string,
  { method, url, id, sha256, time }: { method: string; url: string; id: string; sha256: string; time: number },
): string => createHmac("sha256", secret).update([method, url, id, sha256, time].join("\n")).digest("base64url");
