import { createParser, type EventSourceParser } from "eventsource-parser";

/** One frame of a stream of server-sent events. */
export interface Frame {
  /** `message` where the server gave none. */
  name: string;
  id: string | undefined;
  data: string;
}

/** Finds the frames in the chunks of a stream. Frames without data, such as heartbeats, are left out. */
export class FrameParser {
  readonly #found: Frame[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;

  constructor({ maxLength }: { maxLength?: number | undefined } = {}) {
    this.#parser = createParser({
      maxBufferSize: maxLength,
      onEvent: ({ event, id, data }) => {
        if (data !== "") this.#found.push({ name: event ?? "message", id, data });
      },
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw error;
      },
    });
  }

  /** Returns the frames that the chunk completes. */
  feed(chunk: Uint8Array): Frame[] {
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    return this.#found.splice(0);
  }
}

/**
 * The frames of a stream that have data. `onBytes` is called for every chunk, heartbeats included. A stream whose frame
 * exceeds `maxLength` is rejected before it fills the memory.
 */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  { maxLength, onBytes }: { maxLength?: number; onBytes?: () => void } = {},
): AsyncGenerator<Frame> {
  const parser = new FrameParser({ maxLength });
  for await (const chunk of iterate(chunks)) {
    onBytes?.();
    yield* parser.feed(chunk);
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
