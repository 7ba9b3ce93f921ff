/** From fine to coarse, as fields are named: `placed.month`. */
const PERIODS = ["minute", "hour", "day", "week", "month", "quarter", "year"] as const;
export type Period = (typeof PERIODS)[number];

/** The period at the end of a field's name. */
export const periodOf = (field: string): Period | undefined => {
  const last = field.split(".").at(-1);
  return PERIODS.find((period) => period === last);
};

const DAY_MS = 86_400_000;
const STEPS: Readonly<Partial<Record<Period, { months: number } | { days: number }>>> = {
  day: { days: 1 },
  week: { days: 7 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
};

/** The start of the period after the one that starts on this day. Undefined for hours and minutes. */
export function nextPeriod(day: string, period: Period): string | undefined {
  const step = STEPS[period];
  const date = dayOf(day);
  if (!step || !date) return undefined;
  if ("days" in step) return isoDay(new Date(date.getTime() + step.days * DAY_MS));
  date.setUTCMonth(date.getUTCMonth() + step.months);
  return isoDay(date);
}

const month = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", timeZone: "UTC" });
const longDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** `Jan 2026`, `Q1 2026`, `2026`, `Jan 5, 2026`; other values as they are. */
export function periodLabel(value: string, period: Period | undefined): string {
  const date = dayOf(value);
  if (!date || period === undefined) return value;
  switch (period) {
    case "year":
      return String(date.getUTCFullYear());
    case "quarter":
      return `Q${Math.floor(date.getUTCMonth() / 3) + 1} ${date.getUTCFullYear()}`;
    case "month":
      return month.format(date);
    case "week":
    case "day":
      return longDay.format(date);
    case "hour":
    case "minute":
      return value;
  }
}

const isoDay = (date: Date): string => date.toISOString().slice(0, 10);

function dayOf(text: string): Date | undefined {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?)?$/.exec(text) ?? [];
  const date = new Date(`${day}T00:00:00Z`);
  return day === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}
