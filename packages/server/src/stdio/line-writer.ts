import { once } from "node:events";
import type { Writable } from "node:stream";

/** Within JSON, they stand in strings alone; many a reader takes them for the end of a line. */
const OTHER_ENDS = /[\u0085\u2028\u2029]/g;
const escaped = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Writes lines as fast as they are read, and no faster: whoever writes waits until the host has taken what is before it. */
export class LineWriter {
  /** Fires when nobody reads any more. */
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

  /** Writes nothing more, and keeps nobody waiting for whoever does not read. */
  abandon(): void {
    this.#closing.abort();
  }

  /** Resolves when there is room, or nobody to need it. */
  async ready(): Promise<void> {
    while (this.#full && !this.closed.aborted) await this.#full;
  }

  /** Resolves when the line is on its way; lines keep the order in which they found room. */
  async write(line: string): Promise<void> {
    await this.ready();
    if (this.closed.aborted) return;
    if (this.#output.write(`${line.replaceAll(OTHER_ENDS, escaped)}\n`)) return;
    this.#full = once(this.#output, "drain", { signal: this.closed })
      .catch(() => undefined)
      .finally(() => (this.#full = undefined));
  }

  /** Resolves with whether the host has taken everything, within that time. */
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
