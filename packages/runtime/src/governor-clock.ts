import { setTimeout as delay } from "node:timers/promises";

/** Time and randomness, injected so that tests are instant and deterministic. */
export interface GovernorClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects as soon as the signal fires. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** In the range [0, 1). */
  random(): number;
}

// A longer timer overflows and fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: GovernorClock = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    await delay(Math.min(milliseconds, MAX_TIMER_MS), undefined, { signal });
  },
  random: () => Math.random(),
};
