import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { type Readable, Transform } from "node:stream";
import { escapeFor } from "./escape-value.ts";
import type { InjectedCredential } from "./injected-credential.ts";
import type { HeaderPair } from "./request-headers.ts";
import { startOfSecret } from "./secret-filter.ts";

/** A body with a length is read whole, because its length changes. A larger one is sent as it is. */
const MAX_BYTES = 1_048_576;

interface Replacement {
  placeholder: Buffer;
  value: Buffer;
}

/** The body to send, and the headers that describe it. */
export interface InjectedBody {
  headers: HeaderPair[];
  body: Readable | Buffer;
}

/**
 * Replaces placeholders in a request's body. A compressed body is sent as it is. A value is escaped for the type of the body, so that
 * it cannot add a field to a form or to JSON.
 */
export async function injectBody(
  request: IncomingMessage,
  headers: HeaderPair[],
  credentials: readonly InjectedCredential[],
): Promise<InjectedBody> {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
  const escape = escapeFor(type);
  const replacements = credentials.flatMap((credential): Replacement[] =>
    credential.kind === "placeholder" && credential.in?.body
      ? [{ placeholder: Buffer.from(credential.placeholder), value: Buffer.from(escape(credential.value)) }]
      : [],
  );
  const unchanged = { headers, body: request };
  if (replacements.length === 0 || encoding.toLowerCase() !== "identity") return unchanged;
  if (request.headers["transfer-encoding"] !== undefined) {
    const body = replaceInStream(replacements);
    request.once("error", (error) => body.destroy(error));
    return { headers, body: request.pipe(body) };
  }
  const length = Number(request.headers["content-length"] ?? 0);
  if (length === 0 || length > MAX_BYTES) return unchanged;
  const body = replaceAll(await buffer(request), replacements).done;
  const others = headers.filter(([name]) => name !== "content-length");
  return { headers: [...others, ["content-length", String(body.length)]], body };
}

/** A placeholder may span chunks: bytes that may be the start of one wait for the next chunk. */
function replaceInStream(replacements: readonly Replacement[]): Transform {
  const placeholders = replacements.map(({ placeholder }) => placeholder);
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      const { done, rest } = replaceAll(Buffer.concat([held, chunk]), replacements);
      const keep = startOfSecret(rest, placeholders);
      held = rest.subarray(rest.length - keep);
      callback(null, done.subarray(0, done.length - keep));
    },
    flush(callback) {
      callback(null, held);
    },
  });
}

/** `rest` is the end of `done`, after the last value. */
function replaceAll(bytes: Buffer, replacements: readonly Replacement[]): { done: Buffer; rest: Buffer } {
  const pieces: Buffer[] = [];
  let from = 0;
  for (;;) {
    const next = replacements
      .map((each) => ({ ...each, at: bytes.indexOf(each.placeholder, from) }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    pieces.push(bytes.subarray(from, next.at), next.value);
    from = next.at + next.placeholder.length;
  }
  const rest = bytes.subarray(from);
  return { done: Buffer.concat([...pieces, rest]), rest };
}
