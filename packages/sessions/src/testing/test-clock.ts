import type { Clock } from "../host/clock.ts";

interface PendingTimer {
  due: number;
  callback: () => void;
  everyMs?: number;
  handle?: NodeJS.Timeout;
}

/**
 * Runs as the system clock does, and can be advanced: every timer that is due by then fires at once. Claude Code and the
 * database are not affected.
 */
export class TestClock implements Clock {
  readonly #timers = new Set<PendingTimer>();
  #offset = 0;

  now(): number {
    return Date.now() + this.#offset;
  }

  monotonic(): number {
    return performance.now() + this.#offset;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#add({ due: this.monotonic() + ms, callback });
  }

  every(ms: number, callback: () => void): () => void {
    return this.#add({ due: this.monotonic() + ms, callback, everyMs: ms });
  }

  advance(ms: number): void {
    this.#offset += ms;
    for (const timer of [...this.#timers].toSorted((a, b) => a.due - b.due)) this.#arm(timer);
  }

  #add(timer: PendingTimer): () => void {
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      clearTimeout(timer.handle);
      this.#timers.delete(timer);
    };
  }

  #arm(timer: PendingTimer): void {
    clearTimeout(timer.handle);
    const left = timer.due - this.monotonic();
    timer.handle = setTimeout(() => this.#fire(timer), Math.max(0, left)).unref();
  }

  /** An interval that was passed several times fires once, as after a sleep of the machine. */
  #fire(timer: PendingTimer): void {
    if (timer.everyMs === undefined) this.#timers.delete(timer);
    else {
      timer.due = this.monotonic() + timer.everyMs;
      this.#arm(timer);
    }
    timer.callback();
  }
}
