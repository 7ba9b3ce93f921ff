/**
 * Time as Tandem sees it. Every time and wait of the engine (`packages/sessions`) comes from a clock, so that tests can
 * advance it; so do the server's sign-in, tokens and retries of requests. Claude Code, the database and other programs keep
 * real time, and waits for them use `systemClock`. So do the server's connections: their heartbeats, idle times and limits.
 */
export interface Clock {
  /** Wall clock in milliseconds since 1970. It may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start. It never jumps, so durations are measured with it. */
  monotonic(): number;
  /** Runs the callback once. A timer does not keep the process alive unless `keepsProcess` is set. */
  after(ms: number, callback: () => void, options?: { keepsProcess?: boolean }): Cancel;
  /** Runs the callback repeatedly. It does not keep the process alive. */
  every(ms: number, callback: () => void): Cancel;
}

/** Cancels a timer. Calling it again has no effect. */
type Cancel = () => void;

// A browser has no `unref`: its timers keep nothing alive.
const unref = (timer: { unref?: () => unknown } | number): void => {
  if (typeof timer === "object") timer.unref?.();
};

/** Real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback, options) {
    const timer = setTimeout(callback, ms);
    if (!options?.keepsProcess) unref(timer);
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms);
    unref(timer);
    return () => clearInterval(timer);
  },
};

export const isoNow = (clock: Pick<Clock, "now">): string => new Date(clock.now()).toISOString();

/** Resolves after the time, or as soon as the signal fires. */
export function sleep(
  clock: Pick<Clock, "after">,
  ms: number,
  options: { signal?: AbortSignal; keepsProcess?: boolean } = {},
): Promise<void> {
  const { signal, keepsProcess = false } = options;
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end, { keepsProcess });
    signal?.addEventListener("abort", end, { once: true });
  });
}
