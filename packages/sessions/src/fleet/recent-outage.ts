import type { Clock } from "@tandem/protocol";

/** Remembers when this process last had no database. All engines of the process share it. */
export class RecentOutage {
  readonly #clock: Pick<Clock, "monotonic">;
  #isAway = false;
  #lastAt = -Infinity;
  #promisedAt = -Infinity;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The database did not answer. */
  begin(): void {
    this.#isAway = true;
    this.#lastAt = this.#clock.monotonic();
  }

  /** Tells another worker that this process has no database and takes over nothing for the time of a lease. */
  promise(): void {
    this.begin();
    this.#promisedAt = this.#lastAt;
  }

  /** Whether a promise was given at that monotonic time or later. */
  hasPromisedSince(since: number): boolean {
    return this.#promisedAt >= since;
  }

  /** The database answered. */
  end(): void {
    if (this.#isAway) this.#lastAt = this.#clock.monotonic();
    this.#isAway = false;
  }

  /** Whether the database was away within the last `ms`. */
  isWithin(ms: number): boolean {
    return this.#isAway || this.#clock.monotonic() - this.#lastAt < ms;
  }
}
