import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { RequestError, TandemError } from "@tandem/protocol";
import { z } from "zod";

const KEY_BYTES = 32;

/** As stored: JSON with an encrypted text. */
export const sealedSecret = z.object({
  /** Which key: the start of its hash. */
  key: z.string(),
  salt: z.string(),
  iv: z.string(),
  tag: z.string(),
  text: z.string(),
});
export type SealedSecret = z.infer<typeof sealedSecret>;

/**
 * Encrypts secrets that have to be read again, so that a copy of the database alone reveals none (AES-256-GCM, with a key of its own
 * for each secret). `owner` is the id of the record that holds the secret: moved to another record, it does not open.
 */
export class SecretBox {
  readonly #readKey: () => Promise<Buffer>;
  #key: Promise<Buffer> | undefined;

  /** `readKey` is called on first use. */
  constructor(readKey: () => Promise<Buffer>) {
    this.#readKey = readKey;
  }

  async seal(secret: string, owner: string): Promise<SealedSecret> {
    const key = await this.#main();
    const [salt, iv] = [randomBytes(16), randomBytes(12)];
    const cipher = createCipheriv("aes-256-gcm", derived(key, salt), iv).setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    const [shown, tag] = [salt.toString("base64"), cipher.getAuthTag().toString("base64")];
    return { key: nameOf(key), salt: shown, iv: iv.toString("base64"), tag, text: text.toString("base64") };
  }

  /** Rejects with `unavailable` if it was sealed with another key, or for another owner. */
  async open(sealed: SealedSecret, owner: string): Promise<string> {
    const key = await this.#main();
    if (nameOf(key) !== sealed.key) {
      throw new RequestError("unavailable", `A secret of ${owner} was stored with another key (${sealed.key}).`, {
        fix: "Restore the key file of that time, or set `storage.key`; otherwise enter the secret again.",
      });
    }
    try {
      const [salt, iv, tag, text] = [sealed.salt, sealed.iv, sealed.tag, sealed.text].map(fromBase64);
      const decipher = createDecipheriv("aes-256-gcm", derived(key, salt!), iv!).setAAD(Buffer.from(owner));
      return decipher.setAuthTag(tag!).update(text!, undefined, "utf8") + decipher.final("utf8");
    } catch (cause) {
      throw new RequestError("unavailable", `The stored secret of ${owner} is damaged.`, {
        fix: "Enter the secret again.",
        cause,
      });
    }
  }

  /** The name of the key, as in the sealed secrets. It does not reveal the key. */
  async keyName(): Promise<string> {
    return nameOf(await this.#main());
  }

  #main(): Promise<Buffer> {
    // A failure is not kept: the next use tries again.
    this.#key ??= this.#readKey().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }
}

/** The key in a file, which is created on first use, unless `makes` is false, and closed to other users. */
export async function readKeyFile(path: string, { makes = true } = {}): Promise<Buffer> {
  const found = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found !== undefined) {
    await refuseOpenFile(path);
    return parseKey(found, path);
  }
  if (!makes) {
    throw new TandemError("invalid_key", `The key ${path} is missing.`, { fix: "Restore it from the backup." });
  }
  // Linked into place whole: another process may create it at the same time.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${randomBytes(KEY_BYTES).toString("base64")}\n`, { mode: 0o600, flush: true });
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return parseKey(await readFile(path, "utf8"), path);
}

/** Group access stays possible: a volume of a container may set it for all files. */
async function refuseOpenFile(path: string): Promise<void> {
  // Windows reports no such bits.
  if (process.platform === "win32" || ((await stat(path)).mode & 0o007) === 0) return;
  throw new TandemError("invalid_key", `Other users of this machine can read the key ${path}.`, {
    fix: `Run: chmod 600 ${path}. If others may have copied it, also replace the secrets that it protects.`,
  });
}

/** A key of 32 bytes in base64. */
export function parseKey(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === KEY_BYTES) return key;
  throw new TandemError("invalid_key", `${where} is not a key for secrets.`, {
    fix: `Use ${KEY_BYTES} random bytes in base64, such as from: openssl rand -base64 ${KEY_BYTES}`,
  });
}

const derived = (key: Buffer, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync("sha256", key, salt, "tandem secret", KEY_BYTES));

const nameOf = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 12);

const fromBase64 = (text: string): Buffer => Buffer.from(text, "base64");
