import type { Clock } from "@tandem/protocol";

/** A smaller difference is noise. */
const NOISE_MS = 20;

/**
 * A clock that follows the database's. Processes store the ends of their claims as times, so that with clocks of their own one
 * machine whose clock is a minute ahead would take over claims that are still held.
 */
export class SharedClock implements Clock {
  readonly #base: Clock;
  /** Added to monotonic time: a step of this machine's clock changes nothing. */
  #offset: number;
  /** Of the best answer so far. This machine's clock alone says nothing about the database's. */
  #uncertainty = Infinity;

  constructor(base: Clock) {
    this.#base = base;
    this.#offset = base.now() - base.monotonic();
  }

  now(): number {
    return Math.round(this.#base.monotonic() + this.#offset);
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  after(ms: number, callback: () => void, options?: { keepsProcess?: boolean }): () => void {
    return this.#base.after(ms, callback, options);
  }

  every(ms: number, callback: () => void): () => void {
    return this.#base.every(ms, callback);
  }

  /** Reads the database's time. It was read at an unknown moment of the round trip, in the mean in its middle. */
  async follow(readTime: () => Promise<number>): Promise<void> {
    const sentAt = this.#base.monotonic();
    const time = await readTime();
    const tookMs = this.#base.monotonic() - sentAt;
    const uncertainty = NOISE_MS + tookMs / 2;
    const difference = time - (sentAt + tookMs / 2) - this.#offset;
    const isBest = uncertainty <= this.#uncertainty;
    this.#uncertainty = Math.min(this.#uncertainty, uncertainty);
    // Within the uncertainty: a correction could only make times go back.
    if (Math.abs(difference) <= uncertainty) return;
    // A slow answer must not replace a good offset by a guess: it only corrects what is certain.
    this.#offset += isBest ? difference : difference - Math.sign(difference) * uncertainty;
  }
}
