import { createParser } from "eventsource-parser";

/** One frame of a stream of server-sent events. */
export interface Frame {
  /** `message` where the server gave none. */
  name: string;
  id: string | undefined;
  data: string;
}

/**
 * The frames of a stream that have data. `onBytes` is called for every chunk, heartbeats included. A stream whose frame
 * exceeds `maxBytes` is rejected before it fills the memory.
 */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  { maxBytes = Infinity, onBytes }: { maxBytes?: number; onBytes?: () => void } = {},
): AsyncGenerator<Frame> {
  const found: Frame[] = [];
  let pending = 0;
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      pending = 0;
      if (data !== "") found.push({ name: event ?? "message", id, data });
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of iterate(chunks)) {
    onBytes?.();
    pending += chunk.byteLength;
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (pending > maxBytes) {
      if (found.length === 0) throw new Error("A frame is longer than a line may be.");
      pending = 0;
    }
    yield* found.splice(0);
  }
}

/** Not every browser can iterate over a stream. */
async function* iterate(chunks: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!("getReader" in chunks)) return yield* chunks;
  const reader = chunks.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
