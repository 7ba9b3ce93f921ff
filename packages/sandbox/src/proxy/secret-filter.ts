import { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

/** Shorter values would match ordinary text. */
const MIN_LENGTH = 8;

/**
 * Overwrites secrets in a stream of bytes with asterisks, also across chunks. The length does not change, so `content-length` stays
 * valid. Only bytes that may be the start of a secret wait for the next chunk.
 */
export class SecretScrubber {
  readonly #needles: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#needles = needlesOf(secrets);
  }

  push(chunk: Uint8Array): Buffer {
    const bytes = Buffer.concat([this.#held, chunk]);
    overwrite(bytes, this.#needles);
    const keep = startOfSecret(bytes, this.#needles);
    this.#held = bytes.subarray(bytes.length - keep);
    return bytes.subarray(0, bytes.length - keep);
  }

  end(): Buffer {
    return this.#held;
  }
}

export function secretFilter(secrets: readonly string[]): Transform {
  const scrubber = new SecretScrubber(secrets);
  return new Transform({
    transform: (chunk: Buffer, _encoding, callback) => callback(null, scrubber.push(chunk)),
    flush: (callback) => callback(null, scrubber.end()),
  });
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const bytes = Buffer.from(text);
  overwrite(bytes, needlesOf(secrets));
  return bytes.toString();
}

/** Plain bytes of an answer that a host compressed although it was asked not to. Undefined if the encoding is unknown. */
export function decompressor(encoding: string): Transform | undefined {
  return DECOMPRESSORS[encoding.trim().toLowerCase()]?.();
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** The values of credential headers, without their scheme (`Bearer`). */
export const secretsOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers)
    .filter(([name]) => name.toLowerCase() !== "anthropic-beta")
    .map(([, value]) => value.replace(/^\w+ +/, ""));

/** The longest first: one secret may be the start of another, whose rest would stay. */
const needlesOf = (secrets: readonly string[]): Buffer[] =>
  secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    .map((secret) => Buffer.from(secret))
    .sort((a, b) => b.length - a.length);

function overwrite(bytes: Buffer, needles: readonly Buffer[]): void {
  for (const needle of needles) {
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) {
      bytes.fill("*", at, at + needle.length);
    }
  }
}

/** How many of the last bytes are the beginning of a secret. */
export function startOfSecret(bytes: Buffer, needles: readonly Buffer[]): number {
  let longest = 0;
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, bytes.length); length > longest; length -= 1) {
      if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) longest = length;
    }
  }
  return longest;
}
