const BUCKET_US = 100;
const MAX_US = 120_000_000;

/** How long things were under way: millions of them, to a tenth of a millisecond. */
export class Lags {
  readonly #buckets = new Uint32Array(MAX_US / BUCKET_US);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(lagUs: number): void {
    const bucket = Math.floor(lagUs / BUCKET_US);
    this.#buckets[Math.max(0, Math.min(bucket, this.#buckets.length - 1))]! += 1;
    this.#count += 1;
  }

  /** Milliseconds. */
  quantile(share: number): number {
    let left = Math.ceil(this.#count * share);
    for (const [bucket, count] of this.#buckets.entries()) {
      left -= count;
      if (left <= 0) return ((bucket + 1) * BUCKET_US) / 1_000;
    }
    return 0;
  }
}
