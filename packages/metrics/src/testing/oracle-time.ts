import type { RandomCase } from "./random-case.ts";
import { NOW } from "./scenarios/scenario.ts";

export function localTime(utc: string, zone: string | undefined): string {
  if (zone === undefined) return utc;
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  formats.set(zone, format);
  return format.format(new Date(`${utc.replace(" ", "T")}Z`));
}
const formats = new Map<string, Intl.DateTimeFormat>();

export function bucket(utc: string, unit: string, zone: string | undefined): string {
  const local = localTime(utc, zone);
  const day = local.slice(0, 10);
  switch (unit) {
    case "minute":
      return `${day}T${local.slice(11, 16)}`;
    case "hour":
      return `${day}T${local.slice(11, 13)}:00`;
    case "day":
      return day;
    case "week": {
      const date = new Date(`${day}T00:00:00Z`);
      while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
      return date.toISOString().slice(0, 10);
    }
    case "month":
      return `${day.slice(0, 7)}-01`;
    case "quarter":
      return `${day.slice(0, 5)}${["01", "04", "07", "10"][Math.floor((Number(day.slice(5, 7)) - 1) / 3)]}-01`;
    default:
      return `${day.slice(0, 4)}-01-01`;
  }
}

const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;
const monthText = (count: number): string => `${Math.floor(count / 12)}-${String((count % 12) + 1).padStart(2, "0")}`;
export const nextMonth = (month: string): string => monthText(monthNumber(month) + 1);
export const monthsBetween = (from: string, until: string): number => monthNumber(until) - monthNumber(from);

export function monthsIn(from: string, until: string): string[] {
  const found: string[] = [];
  for (let at = monthNumber(from); `${monthText(at)}-01 00:00:00` < until; at += 1) found.push(monthText(at));
  return found;
}

export function rangeOf(filter: RandomCase["query"]["where"][number], back = 0): { from?: string; until?: string } {
  if ("op" in filter) return {};
  const [from, until] =
    "range" in filter
      ? [`${monthText(monthNumber(NOW.toISOString()) - 1)}-01`, `${monthText(monthNumber(NOW.toISOString()))}-01`]
      : "last" in filter
        ? [undefined, undefined]
        : [filter.from, filter.until];
  const moved = (day: string | undefined) => day && `${monthText(monthNumber(day) - back)}${day.slice(7)} 00:00:00`;
  return { from: moved(from), until: moved(until) };
}
