import { describe, expect, test } from "vitest";
import { cronTimes, upcomingTimes } from "./cron-times.ts";
import { describeCron } from "./describe-cron.ts";
import { parseCron, type Cron } from "./parse-cron.ts";
import { isTimeZone } from "./time-zone.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

function cronOf(expression: string): Cron {
  const parsed = parseCron(expression);
  if (!parsed.ok) throw new Error(`${expression}: ${parsed.reason}`);
  return parsed.cron;
}

const next = (expression: string, zone: string, after: string, limit = 1): string[] =>
  upcomingTimes(cronOf(expression), zone, Date.parse(after), limit).map((time) =>
    new Date(time).toISOString().slice(0, 16),
  );

describe("the grammar", () => {
  test.each([
    ["0 9 * * 1-5", { hours: [9], weekdays: [1, 2, 3, 4, 5] }],
    ["*/20 8-18/5 * * *", { minutes: [0, 20, 40], hours: [8, 13, 18] }],
    ["0 0 * * 7", { weekdays: [0] }],
    ["0 0 * * 5-7", { weekdays: [0, 5, 6] }],
    ["0 0 1,15 JAN-mar Mon,fri", { days: [1, 15], months: [1, 2, 3], weekdays: [1, 5] }],
    ["  5\t4  3 2 * ", { minutes: [5], hours: [4], days: [3], months: [2] }],
  ])("%s", (expression, expected) => expect(cronOf(expression)).toMatchObject(expected));

  test.each([
    ["@daily", "shortcuts such as @daily"],
    ["0 9 * *", "found 4"],
    ["0 0 9 * * *", "found 6"],
    ["", "found 0"],
    ["0 0 L * *", "L, W, # and ?"],
    ["0 0 15W * *", "L, W, # and ?"],
    ["0 0 ? * 1", "L, W, # and ?"],
    ["0 0 * * 1#2", "L, W, # and ?"],
    ["60 0 * * *", 'minute: expected 0 to 59, and found "60"'],
    ["0 24 * * *", "hour: expected 0 to 23"],
    ["0 0 0 * *", "day of month: expected 1 to 31"],
    ["0 0 * 13 *", "month: expected 1 to 12"],
    ["0 0 * * 8", "day of week: expected 0 to 7"],
    ["0 22-2 * * *", "22-23,0-2"],
    ["5/15 * * * *", "5-59/15"],
    ["*/0 * * * *", "is not a step"],
    ["1,,2 * * * *", "is not a value"],
    ["-1 * * * *", "minute"],
    ["1-2-3 * * * *", "is not a range"],
    ["0 0 31 2 *", "it never matches: no month of 2 has a day 31"],
    ["0 0 31 4,6 *", "it never matches"],
    ["0 0 30-31 2 *", "it never matches"],
    ["0 9 * * * UTC", "found 6"],
  ])("refuses %s", (expression, reason) => {
    const parsed = parseCron(expression);
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(reason) as string });
  });

  test("a weekday makes a missing day of the month harmless", () => {
    expect(next("0 0 31 2 1", "UTC", "2026-02-01T00:00Z", 2)).toEqual(["2026-02-02T00:00", "2026-02-09T00:00"]);
  });

  test("zones are names of the IANA database", () => {
    expect(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+3"].map(isTimeZone)).toEqual(
      Array.from({ length: 4 }, () => true),
    );
    expect(["", "+02:00", "Europe/Atlantis", "Local", "Europe/Berlin "].map(isTimeZone)).toEqual(
      Array.from({ length: 5 }, () => false),
    );
  });
});

describe("local time", () => {
  test("a missing time is skipped and a repeated one matches twice", () => {
    expect(next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z")).toEqual(["2026-03-30T00:30"]);
    expect(next("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", 3)).toEqual([
      "2026-11-01T05:30",
      "2026-11-01T06:30",
      "2026-11-02T06:30",
    ]);
  });

  test("Lord Howe changes by half an hour", () => {
    // 02:00 becomes 02:30 on 4 October 2026, and 02:00 becomes 01:30 on 5 April 2026.
    expect(next("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T16:00Z")).toEqual(["2026-10-04T15:15"]);
    expect(next("45 1 5 4 *", "Australia/Lord_Howe", "2026-04-01T00:00Z", 2)).toEqual([
      "2026-04-04T14:45",
      "2026-04-04T15:15",
    ]);
  });

  test("Apia skipped 30 December 2011, and Kathmandu is 5:45 ahead", () => {
    expect(next("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00Z", 2)).toEqual([
      "2011-12-29T22:00",
      "2011-12-30T22:00",
    ]);
    expect(next("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00Z")).toEqual(["2012-12-29T22:00"]);
    expect(next("0 9 * * *", "Asia/Kathmandu", "2026-01-01T00:00Z")).toEqual(["2026-01-01T03:15"]);
  });

  test("leap days are found, also across 2100", () => {
    expect(next("0 0 29 2 *", "Europe/Berlin", "2026-11-17T00:00Z", 2)).toEqual([
      "2028-02-28T23:00",
      "2032-02-28T23:00",
    ]);
    expect(next("0 0 29 2 *", "UTC", "2097-01-01T00:00Z")).toEqual(["2104-02-29T00:00"]);
  });

  test("the bound itself is not repeated", () => {
    expect(next("0 9 * * *", "UTC", "2026-01-01T09:00:00Z")).toEqual(["2026-01-02T09:00"]);
    expect(next("0 9 * * *", "UTC", "2026-01-01T08:59:59.999Z")).toEqual(["2026-01-01T09:00"]);
  });
});

/** Walks all minutes and asks Intl for each local time. */
function bruteForce(cron: Cron, zone: string, from: number, to: number): number[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    weekday: "short",
    day: "numeric",
    month: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const found: number[] = [];
  for (let at = Math.ceil(from / MINUTE) * MINUTE; at <= to; at += MINUTE) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const isDay = cron.days.includes(Number(parts["day"]));
    const isWeekday = cron.weekdays.includes(weekdays.indexOf(parts["weekday"]!));
    const isToday = cron.hasDays && cron.hasWeekdays ? isDay || isWeekday : isDay && isWeekday;
    if (
      isToday &&
      cron.minutes.includes(Number(parts["minute"])) &&
      cron.hours.includes(Number(parts["hour"])) &&
      cron.months.includes(Number(parts["month"]))
    ) {
      found.push(at);
    }
  }
  return found;
}

/** A small reproducible generator. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function randomExpression(random: () => number): string {
  const pick = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const field = (min: number, max: number, star: number): string => {
    if (random() < star) return "*";
    const kind = pick(0, 3);
    const low = pick(min, max);
    const high = pick(low, max);
    if (kind === 0) return String(low);
    if (kind === 1) return `*/${pick(1, Math.max(1, Math.floor(max / 2)))}`;
    if (kind === 2) return `${low}-${high}/${pick(1, 5)}`;
    return `${low},${high}`;
  };
  return [field(0, 59, 0.1), field(0, 23, 0.3), field(1, 28, 0.6), field(1, 12, 0.8), field(0, 7, 0.6)].join(" ");
}

// Around changes of the clock, the year's end, a leap day and the day that Apia skipped.
test.each([
  ["Europe/Berlin", "2026-03-28T00:00Z"],
  ["Europe/Berlin", "2026-10-24T00:00Z"],
  ["America/New_York", "2026-10-31T00:00Z"],
  ["America/St_Johns", "2010-11-06T00:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T00:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T00:00Z"],
  ["Asia/Kathmandu", "2028-02-27T18:00Z"],
  ["Pacific/Apia", "2011-12-28T12:00Z"],
  ["Africa/Casablanca", "2026-02-14T12:00Z"],
  ["America/Santiago", "2026-09-05T12:00Z"],
  ["Africa/Cairo", "2026-10-29T00:00Z"],
  ["Pacific/Kiritimati", "2026-12-30T12:00Z"],
])("agrees with every minute of Intl: %s, %s", (zone, begin) => {
  const from = Date.parse(begin);
  const to = from + 2.5 * DAY;
  const random = randomFrom(from / 1_000);
  const expressions = ["* * * * *", "*/7 * * * *", "30 0-3 * * *", randomExpression(random)];
  for (const expression of expressions) {
    const cron = cronOf(expression);
    const found: number[] = [];
    for (const time of cronTimes(cron, zone, from - 1)) {
      if (time > to) break;
      found.push(time);
    }
    expect(found, `${expression} in ${zone}`).toEqual(bruteForce(cron, zone, from, to));
  }
});

test.each([
  ["0 9 * * 1-5", "every weekday at 09:00"],
  ["* * * * *", "every minute"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0 * * * *", "every hour"],
  ["5 * * * *", "every hour at minute 5"],
  ["0 */6 * * *", "every day at 00:00, 06:00, 12:00 and 18:00"],
  ["0 */2 * * *", "every 2 hours on the hour"],
  ["30 8,20 * * 6,0", "every Sunday and Saturday at 08:30 and 20:30"],
  ["0 0 1 * *", "at 00:00, on day 1 of the month"],
  ["0 0 29 2 *", "at 00:00, on day 29 of the month in February"],
  ["0 9 1-7 * 1", "at 09:00, on day 1–7 of the month or on every Monday"],
  ["*/10 8-17 * * 1-5", "every weekday every 10 minutes from 08:00–17:59"],
  ["0 12 * 6-8 *", "every day in June–August at 12:00"],
])("describes %s", (expression, words) => expect(describeCron(cronOf(expression))).toBe(words));
