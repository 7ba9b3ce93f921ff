import { inject } from "vitest";
import type { TestServer } from "./start-test-server.ts";

export interface SseFrame {
  event?: string;
  id?: string;
  data?: Record<string, unknown>;
  comment?: string;
}

const DEADLINE_MS = 30_000 * inject("slowness");
/** For streams of a real Claude Code, which is slow on a busy machine. */
export const REAL_DEADLINE_MS = 120_000 * inject("slowness");

/** An SSE client that keeps every frame. */
export class StreamReader implements AsyncDisposable {
  readonly frames: SseFrame[] = [];
  readonly response: Response;
  readonly #abort: AbortController;
  readonly #deadlineMs: number;
  readonly #done: Promise<void>;
  #ended = false;
  #changed = Promise.withResolvers<void>();

  static async open(
    server: TestServer,
    path: string,
    headers: Record<string, string> = {},
    deadlineMs = DEADLINE_MS,
  ): Promise<StreamReader> {
    const abort = new AbortController();
    const response = await server.request(path, { headers, signal: abort.signal });
    return new StreamReader(response, abort, deadlineMs);
  }

  private constructor(response: Response, abort: AbortController, deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    this.response = response;
    this.#abort = abort;
    this.#done = this.#read().catch(() => undefined);
  }

  /** Frames with data, without comments. */
  get events(): SseFrame[] {
    return this.frames.filter(({ data }) => data !== undefined);
  }

  get types(): unknown[] {
    return this.events.map(({ data }) => data!["type"]);
  }

  /** Resolves with the first matching frame, past or future. */
  async until(fits: (frame: SseFrame) => boolean): Promise<SseFrame> {
    const late = AbortSignal.timeout(this.#deadlineMs);
    for (;;) {
      const found = this.frames.find(fits);
      if (found) return found;
      if (this.#ended) throw new Error(`The stream ended. There were: ${this.types.join(", ")}`);
      await within(this.#changed.promise, late, () => `It did not come. There were: ${this.types.join(", ")}`);
    }
  }

  untilType(type: string): Promise<SseFrame> {
    return this.until(({ data }) => data?.["type"] === type);
  }

  /** Resolves when the server has ended the stream. */
  async ended(): Promise<void> {
    await within(this.#done, AbortSignal.timeout(this.#deadlineMs), () => "The stream did not end.");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }

  async #read(): Promise<void> {
    let rest = "";
    try {
      for await (const text of this.response.body!.pipeThrough(new TextDecoderStream())) {
        const blocks = (rest + text).split("\n\n");
        rest = blocks.pop()!;
        this.frames.push(...blocks.map(parseFrame));
        this.#tell();
      }
    } finally {
      this.#ended = true;
      this.#tell();
    }
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function parseFrame(block: string): SseFrame {
  const frame: SseFrame = {};
  for (const line of block.split("\n")) {
    const [, field, value] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    if (field === "") frame.comment = value;
    else if (field === "event" || field === "id") frame[field] = value;
    else if (field === "data") frame.data = JSON.parse(value!) as Record<string, unknown>;
    else throw new Error(`Not a line of a frame: ${line}`);
  }
  return frame;
}

async function within<T>(work: Promise<T>, late: AbortSignal, say: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const fail = (): void => reject(new Error(say()));
  late.addEventListener("abort", fail, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    late.removeEventListener("abort", fail);
  }
}
