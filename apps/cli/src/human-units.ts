import type { SessionTimes } from "@tandem/protocol";

const STEPS = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [Infinity, "d"],
] as const;

/** `5 min ago`. */
export function ago(time: string, now = Date.now()): string {
  let amount = Math.max(0, (now - Date.parse(time)) / 1_000);
  for (const [size, unit] of STEPS) {
    if (amount < size) return `${Math.floor(amount)} ${unit} ago`;
    amount /= size;
  }
  return time;
}

/** `4.2 s`, `42 s`, `8 min`, `3 h 20 min`. */
function span(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const SHOWN_WAIT_MS = 1_000;

/** `42 s, waited 8 min for you`. */
export const describeTimes = ({ activeMs, waitedMs }: SessionTimes): string =>
  `${span(activeMs)}${waitedMs < SHOWN_WAIT_MS ? "" : `, waited ${span(waitedMs)} for you`}`;

/** `1 file`, `2 files`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Formats the API's cents as dollars. */
export const usd = ({ amount }: { amount: string }): string => `$${(Number(amount) / 100).toFixed(2)}`;
