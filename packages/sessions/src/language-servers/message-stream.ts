/** Longer messages are a fault of the server, or too much to keep in memory. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_HEADER = 4 * 1024;
const HEADER_END = "\r\n\r\n";

/** A message in the base protocol of language servers: its length, an empty line, JSON. */
export function encodeMessage(message: object): Buffer {
  const content = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return Buffer.concat([Buffer.from(`Content-Length: ${content.length}${HEADER_END}`), content]);
}

/** Splits the output of a language server into messages. */
export class MessageReader {
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes that are needed before it is worth to look again. */
  #needed = 0;

  /** The messages that this chunk completes. Throws if the output is not in the base protocol. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages: unknown[] = [];
    if (this.#length < this.#needed) return messages;
    let buffer: Buffer = Buffer.concat(this.#chunks);
    for (let message = take(buffer); ; message = take(buffer)) {
      this.#needed = message.needed;
      if (message.rest === undefined) break;
      messages.push(message.value);
      buffer = message.rest;
    }
    this.#chunks = [buffer];
    this.#length = buffer.length;
    return messages;
  }
}

interface Taken {
  value?: unknown;
  /** Undefined if the message is incomplete. */
  rest?: Buffer;
  needed: number;
}

function take(buffer: Buffer): Taken {
  const end = buffer.indexOf(HEADER_END);
  if (end < 0) {
    if (buffer.length > MAX_HEADER) throw new Error("its output has no header");
    return { needed: buffer.length + 1 };
  }
  const length = Number(/^content-length: *(\d+) *$/im.exec(buffer.toString("latin1", 0, end))?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(length)) throw new Error("its output has a header without a length");
  if (length > MAX_BYTES) throw new Error(`it sent a message of ${length} bytes`);
  const start = end + HEADER_END.length;
  if (buffer.length < start + length) return { needed: start + length };
  const value: unknown = JSON.parse(buffer.toString("utf8", start, start + length));
  return { value, rest: buffer.subarray(start + length), needed: 0 };
}
