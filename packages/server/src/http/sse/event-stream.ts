import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** A client that is being let go may still read what it was sent, for so long. */
const FAREWELL_MS = 5_000;

/** One client that listens. Frames are written as they are; who writes looks at `unsent` first. */
export class EventStream {
  /** Fires when the client is gone, whoever ended it. */
  readonly closed: AbortSignal;
  readonly #outgoing: ServerResponse;
  #isEnding = false;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    const closing = new AbortController();
    this.closed = closing.signal;
    outgoing.once("close", () => closing.abort());
    // A reset shows as `close` too; without a listener it would end the process.
    outgoing.on("error", () => undefined);
    outgoing.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // nginx holds answers back unless it is told not to.
      "x-accel-buffering": "no",
    });
    outgoing.flushHeaders();
    if (outgoing.destroyed) closing.abort();
  }

  /** Bytes that the client has not taken yet. */
  get unsent(): number {
    return this.#outgoing.writableLength;
  }

  /** Bytes that have left the process. */
  get sent(): number {
    return this.#outgoing.socket?.bytesWritten ?? 0;
  }

  /** False once it is better to wait for `drained` before writing more. */
  write(chunk: Buffer | string): boolean {
    if (this.closed.aborted || this.#isEnding) return true;
    return this.#outgoing.write(chunk);
  }

  /** Resolves with false if the client is gone, or takes nothing until the deadline. */
  async drained(deadlineMs: number): Promise<boolean> {
    if (this.closed.aborted) return false;
    if (!this.#outgoing.writableNeedDrain) return true;
    const signal = AbortSignal.any([this.closed, AbortSignal.timeout(deadlineMs)]);
    return once(this.#outgoing, "drain", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Says a last word and lets the client go. False if it is going already. */
  end(farewell = ""): boolean {
    if (this.closed.aborted || this.#isEnding) return false;
    this.#isEnding = true;
    this.#outgoing.end(farewell);
    const timer = setTimeout(() => this.destroy(), FAREWELL_MS);
    timer.unref();
    this.closed.addEventListener("abort", () => clearTimeout(timer), { once: true });
    return true;
  }

  destroy(): void {
    this.#outgoing.destroy();
  }
}
