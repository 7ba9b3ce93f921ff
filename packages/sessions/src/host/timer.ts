import type { Clock } from "@tandem/protocol";

/** One pending callback. Setting it again replaces the previous one. */
export class Timer {
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(ms: number, callback: () => void, options?: { keepsProcess?: boolean }): void {
    this.clear();
    this.#cancel = this.#clock.after(ms, callback, options);
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
