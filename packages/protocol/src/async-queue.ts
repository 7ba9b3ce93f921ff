/** A queue with one consumer, which iterates over the items. Items from before the end are still delivered. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #end: { failure?: { error: unknown } } | undefined;
  #wake: () => void = () => {};

  /** The signal ends the queue, also after a failure that is not delivered yet. */
  constructor(signal?: AbortSignal) {
    if (signal?.aborted) this.end();
    signal?.addEventListener("abort", () => this.end(), { once: true });
  }

  push(...items: T[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  end(): void {
    this.#end = {};
    this.#wake();
  }

  /** The consumer's loop throws the error after the last item. */
  fail(error: unknown): void {
    this.#end ??= { failure: { error } };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift()!;
      if (this.#end?.failure) throw this.#end.failure.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
