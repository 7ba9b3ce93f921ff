import { MetricError } from "../metric-error.ts";
import { contains, type Granularity, MINUTES, MONTHS } from "../sql/granularity.ts";
import type { Offset } from "../model/model.ts";
import { offsetOf, utcText, type ZoneOffsets } from "../sql/zone-offsets.ts";
import type { MetricFilter, METRIC_RANGES } from "@tandem/protocol";

/** Half-open, in local time of the dimension: `2026-03-01 00:00:00`. */
export interface TimeRange {
  readonly from?: string;
  readonly until?: string;
}

type RangeFilter = Extract<MetricFilter, { range: unknown } | { from?: unknown } | { last: unknown }>;

export const isRangeFilter = (filter: MetricFilter): filter is RangeFilter => !("op" in filter);

export function timeRange(filter: RangeFilter, now: Date, zone: ZoneOffsets | undefined): TimeRange {
  if ("range" in filter) return namedRange(filter.range, today(now, zone));
  if ("last" in filter) {
    const until = startOf(today(now, zone), filter.last.unit);
    return { from: shifted(until, { count: -filter.last.count, unit: filter.last.unit }), until };
  }
  const { from, until } = filter;
  const range = { ...(from && { from: momentText(from) }), ...(until && { until: momentText(until) }) };
  if (range.from !== undefined && range.until !== undefined && range.from >= range.until) {
    throw new MetricError(
      "unknown_name",
      `The range from ${from} until ${until} is empty.`,
      "`until` is not included.",
    );
  }
  return range;
}

function namedRange(name: (typeof METRIC_RANGES)[number], now: string): TimeRange {
  if (name === "today" || name === "yesterday") {
    const day = startOf(now, "day");
    const from = name === "today" ? day : shifted(day, { count: -1, unit: "day" });
    return { from, until: shifted(from, { count: 1, unit: "day" }) };
  }
  const [which, unit] = name.split("_") as ["this" | "last", Granularity];
  const start = startOf(now, unit);
  const from = which === "this" ? start : shifted(start, { count: -1, unit });
  return { from, until: shifted(from, { count: 1, unit }) };
}

function today(now: Date, zone: ZoneOffsets | undefined): string {
  const utc = now.getTime();
  return utcText(zone ? utc + offsetOf(utcText(utc), zone) * 1_000 : utc);
}

function momentText(text: string): string {
  const long = text.length === 10 ? `${text} 00:00:00` : text.replace("T", " ");
  const full = long.length === 16 ? `${long}:00` : long;
  const time = Date.parse(`${full.replace(" ", "T")}Z`);
  if (Number.isNaN(time) || utcText(time) !== full) {
    throw new MetricError("unknown_name", `${text} is not a day or a time.`, "Write 2026-03-31 or 2026-03-31T14:00.");
  }
  return full;
}

/** The start of the period that contains a local time. */
export function startOf(local: string, unit: Granularity): string {
  const date = new Date(`${local.replace(" ", "T")}Z`);
  if (unit === "minute" || unit === "hour")
    return `${local.slice(0, unit === "hour" ? 13 : 16)}${unit === "hour" ? ":00:00" : ":00"}`;
  date.setUTCHours(0, 0, 0, 0);
  if (unit === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (unit === "month" || unit === "quarter" || unit === "year") date.setUTCDate(1);
  if (unit === "quarter") date.setUTCMonth(Math.floor(date.getUTCMonth() / 3) * 3);
  if (unit === "year") date.setUTCMonth(0);
  return utcText(date.getTime());
}

/** A local time, moved; the last day of a shorter month stands for days that it does not have. */
export function shifted(local: string, { count, unit }: Offset): string {
  const date = new Date(`${local.replace(" ", "T")}Z`);
  const minutes = MINUTES[unit];
  if (minutes !== undefined) return utcText(date.getTime() + count * minutes * 60_000);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + count * MONTHS[unit]!);
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, days));
  return utcText(date.getTime());
}

/**
 * The end of a range, moved. It is not included: if the other month is too short for it, the range ends with that month.
 * Otherwise 1 to 30 March, moved to February, would lose the 28th.
 */
export function shiftedEnd(local: string, offset: Offset): string {
  const moved = shifted(local, offset);
  const isCut = MONTHS[offset.unit] !== undefined && moved.slice(8) !== local.slice(8);
  return isCut ? shifted(startOf(moved, "month"), { count: 1, unit: "month" }) : moved;
}

const PERIODS: readonly { text: RegExp; unit: Granularity; rest: string }[] = [
  { text: /^\d{4}$/, unit: "year", rest: "-01-01" },
  { text: /^\d{4}-\d\d$/, unit: "month", rest: "-01" },
  { text: /^\d{4}-\d\d-\d\d$/, unit: "day", rest: "" },
];

/** The text of the bucket that a value names: `2026-03` for March. Throws if it is no period of this unit. */
export function bucketOf(value: string, unit: Granularity, field: string): string {
  const short = PERIODS.find(({ text }) => text.test(value));
  const start = momentText(`${value}${short?.rest ?? ""}`);
  if (startOf(start, unit) === start && (!short || contains(unit, short.unit))) return bucketText(start, unit);
  throw new MetricError(
    "unknown_name",
    `${field} is grouped by ${unit}, and ${value} is not the start of such a period.`,
    `Use a range, such as from ${start.slice(0, 10)}, or a value such as ${bucketText(startOf(start, unit), unit)}.`,
  );
}

/** The range in which a comparison with a period holds. */
export function rangeOfPeriod(
  operator: "=" | "<" | "<=" | ">" | ">=",
  value: string,
  unit: Granularity,
  field: string,
): TimeRange {
  const start = momentText(bucketOf(value, unit, field));
  const end = shifted(start, { count: 1, unit });
  switch (operator) {
    case "=":
      return { from: start, until: end };
    case "<":
    case "<=":
      return { until: operator === "<" ? start : end };
    case ">":
    case ">=":
      return { from: operator === ">" ? end : start };
  }
}

/** The text of a bucket in results. */
export const bucketText = (start: string, unit: Granularity): string =>
  unit === "minute" || unit === "hour" ? start.slice(0, 16).replace(" ", "T") : start.slice(0, 10);

const MAX_PERIODS = 2_000;

/** All periods that a range touches. */
export function periodsOf({ from, until }: Required<TimeRange>, unit: Granularity): string[] {
  const found: string[] = [];
  for (let at = startOf(from, unit); at < until; at = shifted(at, { count: 1, unit })) {
    found.push(bucketText(at, unit));
    if (found.length > MAX_PERIODS) {
      throw new MetricError(
        "unsafe",
        `The range has more than ${MAX_PERIODS} periods.`,
        "Use a longer period or a shorter range.",
      );
    }
  }
  return found;
}
