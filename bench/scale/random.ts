/** Numbers that look random and are the same every time: a simulation that cannot be repeated proves nothing. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Evenly in [0, 1). */
  next(): number {
    // mulberry32.
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** By its median and its 95th percentile, as people know latencies. */
  logNormal({ median, p95 }: { median: number; p95: number }): number {
    return median * Math.exp((Math.log(p95 / median) / 1.6449) * this.normal());
  }
}

/** Of a log-normal of that median and 95th percentile. */
export function meanOf({ median, p95 }: { median: number; p95: number }): number {
  const sigma = Math.log(p95 / median) / 1.6449;
  return median * Math.exp(sigma ** 2 / 2);
}
