/**
 * Lets only so many processes start at once, in the order in which they came: a start is nearly all processor time, and
 * where many sessions come at the same moment (a worker has died, a server has restarted), all of them would be ready only
 * when the last one is, and leases be renewed too late. Whoever takes longer than `patience` waits for something else, and
 * keeps nobody back.
 */
export class StartGate {
  readonly #patience: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number, patience = 3_000) {
    this.#free = atOnce;
    this.#patience = patience;
  }

  /** To be disposed of when the start is over. */
  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      clearTimeout(late);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    const late = setTimeout(leave, this.#patience).unref();
    return { [Symbol.dispose]: leave };
  }
}
