import { systemClock, type Clock } from "./clock.ts";

/** An answer that took longer says too little about the time. */
const LONGEST_MS = 2_000;
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

  constructor(base: Clock = systemClock) {
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
    if (tookMs > LONGEST_MS) return;
    const offset = time - (sentAt + tookMs / 2);
    // Within the uncertainty: a correction could only make times go back.
    if (Math.abs(offset - this.#offset) > NOISE_MS + tookMs / 2) this.#offset = offset;
  }
}
