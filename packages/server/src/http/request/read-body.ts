import type { IncomingMessage } from "node:http";
import { RequestError } from "@tandem/protocol";
import { isNestedDeeper } from "./is-nested-deeper.ts";
import { checkSignedBody } from "./signed-body.ts";
import { WireError } from "../wire-error.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Rejects deeper nesting: it takes seconds to parse and overflows the stack when serialized. */
const DEEPEST = 200;

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The JSON body; undefined if there is none. `read`: the bytes, if they were read already. */
export async function readJson(incoming: IncomingMessage, limit: number, read?: Buffer): Promise<unknown> {
  if (!hasBody(incoming)) return undefined;
  // Web pages may send text/plain, or no type, to any origin without a CORS preflight, but not JSON.
  wantType(incoming, "application/json");
  const bytes = read ?? (await readBytes(incoming, limit));
  if (bytes.length === 0) return undefined;
  if (isNestedDeeper(bytes, DEEPEST)) {
    throw new RequestError("invalid_request", `The body is nested deeper than ${DEEPEST} levels.`);
  }
  try {
    return JSON.parse(utf8.decode(bytes), bytes.includes("__proto__") ? refuseProto : undefined) as unknown;
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError("invalid_request", "The body is not valid JSON.", { cause });
  }
}

/** Reject `__proto__`: parsing would silently drop the field. */
function refuseProto(name: string, value: unknown): unknown {
  if (name === "__proto__") throw new RequestError("invalid_request", "__proto__ cannot be the name of a field.");
  return value;
}

export function wantType({ headers }: IncomingMessage, wanted: string): void {
  const given = headers["content-type"]?.split(";", 1)[0]!.trim().toLowerCase();
  if (given !== wanted) {
    throw new WireError("unsupported_media_type", `The body's content-type must be ${wanted}.`);
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new WireError("unsupported_media_type", "Compressed bodies are not supported.");
  }
}

/** Reads a body up to the limit. */
export async function readBytes(incoming: IncomingMessage, limit: number): Promise<Buffer<ArrayBuffer>> {
  const tooLarge = new RequestError("too_large", `The body is larger than ${Math.floor(limit / 1024)} KiB.`);
  if (Number(incoming.headers["content-length"] ?? 0) > limit) throw tooLarge;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) reject(tooLarge);
    else chunks.push(chunk);
  };
  const end = (): void => resolve(Buffer.concat(chunks));
  const broken = (): void => reject(new RequestError("invalid_request", "The body broke off."));
  incoming.on("data", take).once("end", end).once("error", broken).once("close", broken);
  try {
    const bytes = await promise;
    checkSignedBody(incoming, bytes);
    return bytes;
  } finally {
    incoming.off("data", take).off("end", end).off("error", broken).off("close", broken);
  }
}
