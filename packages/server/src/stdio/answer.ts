import { parseJson, type stdio } from "@tandem/protocol";
import type { IncomingMessage } from "node:http";
import { fromReply, lineTooLong } from "./line-error.ts";
import type { StdioLimits } from "./stdio-limits.ts";

/** The JSON around a result, with the longest id. */
const AROUND_BYTES = 1_024;

/** Limits an error body. */
const REFUSAL_BYTES = 256 * 1_024;

/** The line for a response of the API. */
export async function readAnswer(
  answer: IncomingMessage,
  { id, limits, isFile }: { id: stdio.RequestId; limits: StdioLimits; isFile: boolean },
): Promise<string> {
  if ((answer.statusCode ?? 500) >= 300) return JSON.stringify({ id, error: await readRefusal(answer) });
  const most = limits.lineBytes - AROUND_BYTES;
  const bytes = await readUpTo(answer, isFile ? Math.floor((most * 3) / 4) : most);
  if (!bytes) return JSON.stringify({ id, error: lineTooLong(limits) });
  if (isFile) return JSON.stringify({ id, result: fileOf(answer, bytes) });
  // The body is JSON without line breaks already; do not parse and serialize it again.
  return `{"id":${JSON.stringify(id)},"result":${bytes.toString("utf8")}}`;
}

/** The error of a refused request. */
export async function readRefusal(answer: IncomingMessage): Promise<stdio.LineError> {
  const bytes = await readUpTo(answer, REFUSAL_BYTES);
  return fromReply(answer.statusCode ?? 500, bytes && parseJson(bytes.toString("utf8")));
}

async function readUpTo(answer: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) {
      answer.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fileOf({ headers }: IncomingMessage, bytes: Buffer) {
  const name = /filename\*=UTF-8''([^;]+)/.exec(headers["content-disposition"] ?? "")?.[1];
  return {
    filename: name === undefined ? "file" : decodeURIComponent(name),
    mime_type: headers["content-type"] ?? "application/octet-stream",
    size_bytes: bytes.length,
    content: bytes.toString("base64"),
  };
}
