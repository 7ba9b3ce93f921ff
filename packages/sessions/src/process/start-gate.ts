import { availableParallelism } from "node:os";
import { systemClock, type Clock } from "@tandem/protocol";

/**
 * Limits concurrent process starts, in order of arrival. A start is CPU-bound: if many sessions start at once (after a crash or
 * restart), all of them would be ready only with the last one, and leases would be renewed too late. A start that takes longer
 * than `timeoutMs` waits for something else and no longer blocks others.
 */
export class StartGate {
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number, clock: Clock, timeoutMs = 3_000) {
    this.#free = atOnce;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** Dispose when the start has completed. */
  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      cancel();
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    const cancel = this.#clock.after(this.#timeoutMs, leave);
    return { [Symbol.dispose]: leave };
  }
}

/** The starts of all engines of this process. */
export const PROCESS_STARTS = new StartGate(availableParallelism(), systemClock);
