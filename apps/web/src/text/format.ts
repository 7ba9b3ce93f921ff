// Times and money in the user's locale.

const relative = lazyFormatter(() => new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" }));
const dateTime = lazyFormatter(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }));
const seconds = lazyFormatter(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }));
const dollars = lazyFormatter(() => new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" }));
const cents = lazyFormatter(
  () => new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 4 }),
);
const compact = lazyFormatter(
  () => new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }),
);
const percent = lazyFormatter(() => new Intl.NumberFormat(undefined, { style: "percent" }));

/** Creating an Intl formatter takes 30 ms or more the first time, so each is created on first use. */
function lazyFormatter<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function ago(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1_000;
  for (const [unit, size] of STEPS)
    if (Math.abs(seconds) >= size) return relative().format(Math.round(seconds / size), unit);
  return relative().format(Math.round(seconds), "second");
}

/** For logs, where several events share a minute. */
export const formatSeconds = (time: string): string => seconds().format(new Date(time));

export const formatDateTime = (time: string): string => dateTime().format(new Date(time));

/** Amounts below a cent get more digits. */
export const money = (usd: number): string => (usd > 0 && usd < 0.01 ? cents() : dollars()).format(usd);

/** Demo costs are not billed. */
export const isDemo = ({ payer }: { payer: string | null }): boolean => payer === "nobody";

export const listCost = ({ amount }: { amount: string }): string => money(Number(amount) / 100);

export const count = (value: number): string => compact().format(value);

/** A count from the catalogue; `≈` marks one that is rounded or estimated. */
export const approximateCount = (value: number, exactness: "exact" | "rounded" | "estimated" | undefined): string =>
  exactness === "exact" ? value.toLocaleString() : `≈${count(value)}`;

export const share = (part: number): string => percent().format(part);

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  // Durations of hours leave out the seconds.
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const DAY_MS = 86_400_000;

export const inDays = (days: number, now = Date.now()): string => new Date(now + days * DAY_MS).toISOString();
