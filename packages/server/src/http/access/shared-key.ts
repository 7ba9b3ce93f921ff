import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { RequestError } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";

const SPACE = "page";
const KIND = "forward_key";
const KEY = "hmac";
const stored = z.object({ secret: z.string() });

/**
 * A key that all processes on one database have, to know each other's requests. It is in the database, whose readers could
 * create tokens anyway.
 */
export class SharedKey {
  readonly #records: Pick<Records, "get" | "write"> | undefined;
  #secret: Promise<string> | undefined;

  /** Without records, only this process has the key. */
  constructor(records: Pick<Records, "get" | "write"> | undefined) {
    this.#records = records;
  }

  /** Loads the key, so that it is here while the database is not. */
  async load(): Promise<void> {
    await this.#load();
  }

  async sign(parts: readonly (string | number)[]): Promise<string> {
    return createHmac("sha256", await this.#load())
      .update(parts.join("\n"))
      .digest("base64url");
  }

  async isSigned(parts: readonly (string | number)[], given: string): Promise<boolean> {
    const [expected, found] = [Buffer.from(await this.sign(parts)), Buffer.from(given)];
    return expected.length === found.length && timingSafeEqual(expected, found);
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
