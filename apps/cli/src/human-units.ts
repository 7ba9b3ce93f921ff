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

/** Formats the API's cents as dollars. */
export const usd = ({ amount }: { amount: string }): string => `$${(Number(amount) / 100).toFixed(2)}`;
