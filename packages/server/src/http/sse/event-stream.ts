import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** Time for a client to read the last bytes before the connection is closed. */
const CLOSE_TIMEOUT_MS = 5_000;

/** One SSE client. Frames are written as they are; callers check `unsent` first. */
export class EventStream {
  /** Fires when the connection is closed, by either side. */
  readonly closed: AbortSignal;
  readonly #outgoing: ServerResponse;
  #isEnding = false;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    const closing = new AbortController();
    this.closed = closing.signal;
    outgoing.once("close", () => closing.abort());
    // A reset also emits `close`; without a listener the error would end the process.
    outgoing.on("error", () => undefined);
    outgoing.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // nginx buffers responses unless told otherwise.
      "x-accel-buffering": "no",
    });
    outgoing.flushHeaders();
    if (outgoing.destroyed) closing.abort();
  }

  /** Bytes that are still buffered. */
  get unsent(): number {
    return this.#outgoing.writableLength;
  }

  /** Bytes that have left the process. */
  get sent(): number {
    return this.#outgoing.socket?.bytesWritten ?? 0;
  }

  /** False when the buffer is full; await `drained` before writing more. */
  write(chunk: Buffer | string): boolean {
    if (this.closed.aborted || this.#isEnding) return true;
    return this.#outgoing.write(chunk);
  }

  /** Resolves with false if the client disconnected or read nothing until the deadline. */
  async drained(deadlineMs: number): Promise<boolean> {
    if (this.closed.aborted) return false;
    if (!this.#outgoing.writableNeedDrain) return true;
    const signal = AbortSignal.any([this.closed, AbortSignal.timeout(deadlineMs)]);
    return once(this.#outgoing, "drain", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Writes a last frame and closes the stream. False if it is closing already. */
  end(lastFrame = ""): boolean {
    if (this.closed.aborted || this.#isEnding) return false;
    this.#isEnding = true;
    this.#outgoing.end(lastFrame);
    const timer = setTimeout(() => this.destroy(), CLOSE_TIMEOUT_MS);
    timer.unref();
    this.closed.addEventListener("abort", () => clearTimeout(timer), { once: true });
    return true;
  }

  destroy(): void {
    this.#outgoing.destroy();
  }
}
