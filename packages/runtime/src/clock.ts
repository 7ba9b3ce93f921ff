import { setTimeout as delay } from "node:timers/promises";

/** Time and chance, handed in so that tests are instant and exact. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects as soon as the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** At least 0, less than 1. */
  random(): number;
}

// A longer timer overflows and fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    await delay(Math.min(milliseconds, LONGEST_TIMER_MS), undefined, { signal });
  },
  random: () => Math.random(),
};
