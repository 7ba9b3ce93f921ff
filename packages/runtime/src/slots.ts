/** Remembers the shrink count at the time it was taken, for `pushedBack`. */
export interface Slot {
  readonly shrinks: number;
}

/**
 * A FIFO concurrency limit that adapts (AIMD): it halves when the service pushes back, and grows by one after as many
 * consecutive successes as it has slots.
 */
export class Slots {
  readonly #max: number;
  #limit: number;
  #taken = 0;
  #successes = 0;
  #shrinks = 0;
  readonly #queue: (() => void)[] = [];

  constructor(most: number) {
    this.#max = most;
    this.#limit = most;
  }

  get limit(): number {
    return this.#limit;
  }

  get full(): boolean {
    return this.#taken >= this.#limit || this.#queue.length > 0;
  }

  /** Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.full) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = () => {
        this.#queue.splice(this.#queue.indexOf(resolve), 1);
        reject(signal.reason);
      };
      this.#queue.push(resolve);
      signal.addEventListener("abort", onAbort, { once: true });
      await promise;
      signal.removeEventListener("abort", onAbort);
    } else {
      this.#taken += 1;
    }
    return { shrinks: this.#shrinks };
  }

  giveBack(): void {
    this.#taken -= 1;
    this.#admit();
  }

  succeeded(): void {
    this.#successes += 1;
    if (this.#successes < this.#limit || this.#limit === this.#max) return;
    this.#successes = 0;
    this.#limit += 1;
    this.#admit();
  }

  /** Concurrent requests hit the same overload; only the first of them shrinks the limit. */
  pushedBack(slot: Slot): void {
    this.#successes = 0;
    if (slot.shrinks !== this.#shrinks) return;
    this.#shrinks += 1;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }

  #admit(): void {
    while (this.#taken < this.#limit) {
      const next = this.#queue.shift();
      if (!next) return;
      this.#taken += 1;
      next();
    }
  }
}
