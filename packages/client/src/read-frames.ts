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
 * exceeds `maxLength` is rejected before it fills the memory.
 */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  { maxLength, onBytes }: { maxLength?: number; onBytes?: () => void } = {},
): AsyncGenerator<Frame> {
  const found: Frame[] = [];
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ event, id, data }) => {
      if (data !== "") found.push({ name: event ?? "message", id, data });
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of iterate(chunks)) {
    onBytes?.();
    parser.feed(decoder.decode(chunk, { stream: true }));
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
