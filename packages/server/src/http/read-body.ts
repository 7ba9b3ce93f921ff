import type { IncomingMessage } from "node:http";
import { RequestError } from "@tandem/protocol";
import { isNestedDeeper } from "./is-nested-deeper.ts";
import { WireError } from "./wire-error.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Nothing that is meant is nested deeper. What is, takes seconds to parse, and no stack is large enough to write it out. */
const DEEPEST = 200;

/** Whether the request says that a body follows: without this, there is none. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The value of a JSON body; undefined where there is none. `read`: where it has been read already. */
export async function readJson(incoming: IncomingMessage, limit: number, read?: Buffer): Promise<unknown> {
  if (!hasBody(incoming)) return undefined;
  // A web page may send text/plain, or no type at all, to any address without asking first. JSON it may not.
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

/** No object of ours can have a field of this name, and nothing that a client says is to be passed over. */
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

/** Reads a body as it comes and stops at the limit, however long it would go on. */
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
    return await promise;
  } finally {
    incoming.off("data", take).off("end", end).off("error", broken).off("close", broken);
  }
}
