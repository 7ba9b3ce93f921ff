import type { Clock } from "@tandem/protocol";

interface PendingTimer {
  due: number;
  callback: () => void;
  everyMs?: number;
  handle?: NodeJS.Timeout;
}

/**
 * A clock for tests. It runs as the system clock does, and can be moved forward: every timer that is due by then fires at once,
 * and an interval that was passed several times fires once, as after a sleep of the machine. Claude Code and the database are
 * not affected.
 */
export class MovableClock implements Clock {
  readonly #timers = new Set<PendingTimer>();
  #offset: number;
  #step = 0;

  /** Starts at this time. Default: now. */
  constructor(start?: Date) {
    this.#offset = start ? start.getTime() - Date.now() : 0;
  }

  now(): number {
    return Date.now() + this.#offset + this.#step;
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

  /** Moves forward to this time. */
  moveTo(time: Date): void {
    this.advance(time.getTime() - this.now());
  }

  /** Sets the wall clock forward or back, as an administrator does. Timers and the monotonic clock do not notice. */
  step(ms: number): void {
    this.#step += ms;
  }

  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError("A clock only moves forward.");
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

  #fire(timer: PendingTimer): void {
    if (timer.everyMs === undefined) this.#timers.delete(timer);
    else {
      timer.due = this.monotonic() + timer.everyMs;
      this.#arm(timer);
    }
    timer.callback();
  }
}
