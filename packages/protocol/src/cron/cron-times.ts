import type { Cron } from "./parse-cron.ts";
import { offsetAt, offsetSpans } from "./time-zone.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** No zone was ever further from UTC. */
const MAX_OFFSET_MS = 16 * HOUR_MS;
/** 29 February is up to eight years away; a local time that a change of the clock skips may be missing in some of them. */
const HORIZON_DAYS = 366 * 40;

/**
 * The instants at which a cron expression matches the local time of a zone, strictly after `after`, in order. A local time that
 * does not exist is skipped, and one that exists twice matches twice.
 */
export function* cronTimes(cron: Cron, zone: string, after: number): Generator<number> {
  const times = cron.hours.flatMap((hour) => cron.minutes.map((minute) => hour * HOUR_MS + minute * MINUTE_MS));
  const first = Math.floor((after + offsetAt(zone, after)) / DAY_MS) - 1;
  // A clock that is set back around midnight repeats a time of the day before after one of the next day. Times are therefore
  // released only when no later day can contain an earlier one.
  let waiting: number[] = [];
  for (let day = nextDay(cron, first); day < first + HORIZON_DAYS; day = nextDay(cron, day + 1)) {
    const settled = day * DAY_MS - MAX_OFFSET_MS;
    yield* waiting.filter((time) => time < settled);
    waiting = [...waiting.filter((time) => time >= settled), ...timesOfDay(zone, day, times, after)].toSorted(
      (a, b) => a - b,
    );
  }
  yield* waiting;
}

/** Up to `limit` of the next times. */
export function upcomingTimes(cron: Cron, zone: string, after: number, limit: number): number[] {
  const found: number[] = [];
  if (limit < 1) return found;
  for (const time of cronTimes(cron, zone, after)) if (found.push(time) >= limit) break;
  return found;
}

/** `day` counts local days since 1970. */
function timesOfDay(zone: string, day: number, times: readonly number[], after: number): number[] {
  const start = day * DAY_MS;
  return offsetSpans(zone, start - MAX_OFFSET_MS, start + DAY_MS + MAX_OFFSET_MS).flatMap(({ from, to, offset }) =>
    times.map((time) => start + time - offset).filter((instant) => instant >= from && instant < to && instant > after),
  );
}

/** The first matching local day from `day` on; Infinity if there is none within the horizon. */
function nextDay(cron: Cron, day: number): number {
  for (let at = day; at < day + HORIZON_DAYS;) {
    const date = new Date(at * DAY_MS);
    if (!cron.months.includes(date.getUTCMonth() + 1)) {
      at = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS;
      continue;
    }
    if (matchesDay(cron, date)) return at;
    at += 1;
  }
  return Infinity;
}

function matchesDay(cron: Cron, date: Date): boolean {
  const isDay = cron.days.includes(date.getUTCDate());
  const isWeekday = cron.weekdays.includes(date.getUTCDay());
  return cron.hasDays && cron.hasWeekdays ? isDay || isWeekday : isDay && isWeekday;
}
