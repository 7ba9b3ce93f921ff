import { once } from "node:events";
import type { Writable } from "node:stream";

/** Valid in JSON strings, but many readers treat them as line breaks. */
const OTHER_ENDS = /[\u0085\u2028\u2029]/g;
const escaped = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Writes lines at the host's pace: writers wait until earlier lines are accepted (backpressure). */
export class LineWriter {
  /** Fires when the host no longer reads. */
  readonly closed: AbortSignal;
  readonly #output: Writable;
  readonly #closing = new AbortController();
  #full: Promise<unknown> | undefined;

  constructor(output: Writable) {
    this.#output = output;
    this.closed = this.#closing.signal;
    const close = (): void => this.abandon();
    output.once("close", close).on("error", close);
  }

  /** Stops writing and releases waiting writers. */
  abandon(): void {
    this.#closing.abort();
  }

  /** Resolves when there is room or the host is gone. */
  async ready(): Promise<void> {
    while (this.#full && !this.closed.aborted) await this.#full;
  }

  /** Resolves when the line is written; lines keep the order of their calls. */
  async write(line: string): Promise<void> {
    await this.ready();
    if (this.closed.aborted) return;
    if (this.#output.write(`${line.replaceAll(OTHER_ENDS, escaped)}\n`)) return;
    this.#full = once(this.#output, "drain", { signal: this.closed })
      .catch(() => undefined)
      .finally(() => (this.#full = undefined));
  }

  /** Whether the host accepted everything within the deadline. */
  async flushed(deadlineMs: number): Promise<boolean> {
    if (this.#output.writableLength === 0 || this.closed.aborted) return !this.closed.aborted;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), deadlineMs);
    this.closed.addEventListener("abort", () => resolve(false), { once: true });
    this.#output.write("", () => resolve(!this.closed.aborted));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
