import { RequestError, sleep, type Clock } from "@tandem/protocol";
import { BUSY } from "@tandem/storage";

const FIRST_RETRY_MS = 50;
const SLOWEST_RETRY_MS = 1_000;

/** Default bound of `DatabaseWait`, in milliseconds. */
export const DATABASE_WAIT_MS = 60_000;

/**
 * Retries work of one session while the database is unavailable: unreachable, restarting, or on a full disk. Turns wait
 * for the database up to a bound. Requests of clients do not use it: they are answered 503 at once.
 */
export class DatabaseWait {
  readonly #clock: Clock;
  readonly #boundMs: number;
  readonly #stopped = new AbortController();

  constructor(clock: Clock, boundMs: number) {
    this.#clock = clock;
    this.#boundMs = boundMs;
  }

  /** Rejects with the last error after the bound, or once stopped. The work must be repeatable. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(2 * delayMs, SLOWEST_RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        const isOver = this.#clock.monotonic() - began + delayMs > this.#boundMs;
        if (!isUnavailable(error) || isOver || this.#stopped.signal.aborted) throw error;
        await sleep(this.#clock, delayMs, { signal: this.#stopped.signal });
        if (this.#stopped.signal.aborted) throw error;
      }
    }
  }

  /** The session was released or lost: waiting work fails with its last error. */
  stop(): void {
    this.#stopped.abort();
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "unavailable";

/** Whether the database did not answer, or cannot write. One that was only busy with another process's write works. */
export const isDatabaseAway = (error: unknown): boolean =>
  isUnavailable(error) && (error as RequestError).detail !== BUSY;
