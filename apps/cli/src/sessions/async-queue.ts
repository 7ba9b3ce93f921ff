/** An async queue: `push` adds items, and a consumer iterates over them. Ends when the signal fires. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #signal: AbortSignal;
  #items: T[] = [];
  #failure: { error: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  push(...items: T[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift()!;
      if (this.#signal.aborted) return;
      if (this.#failure) throw this.#failure.error;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
