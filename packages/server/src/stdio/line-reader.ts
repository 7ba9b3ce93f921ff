import type { Readable } from "node:stream";

const NEWLINE = 0x0a;

/** Yields lines without their terminator; `undefined` for a line over the limit, whose content is discarded. */
export async function* readLines(
  input: Readable,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  let isTooLong = false;
  const take = (part: Buffer): void => {
    size += part.length;
    isTooLong ||= size > maxBytes;
    if (isTooLong) parts = [];
    else parts.push(part);
  };
  const end = (): Buffer | undefined => {
    const line = isTooLong ? undefined : Buffer.concat(parts);
    [parts, size, isTooLong] = [[], 0, false];
    return line;
  };
  for await (const chunk of chunksOf(input, signal)) {
    let begin = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, begin)) {
      take(chunk.subarray(begin, at));
      begin = at + 1;
      yield end();
    }
    if (begin < chunk.length) take(chunk.subarray(begin));
  }
  if (size > 0) yield end();
}

/** Ends without an error when the input ends, breaks or is aborted: in each case the host is gone. */
async function* chunksOf(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = (): void => void input.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (!signal.aborted) for await (const chunk of input as AsyncIterable<Buffer>) yield chunk;
  } catch {
    // A broken or aborted input.
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
