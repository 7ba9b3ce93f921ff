import type { Cron } from "./parse-cron.ts";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const MAX_LISTED = 6;

/** A schedule in words, such as "every weekday at 09:00". The zone is not part of it. */
export function describeCron(cron: Cron): string {
  const days = describeDays(cron);
  const months = cron.months.length === 12 ? "" : ` in ${join(spans(cron.months, (month) => MONTHS[month - 1]!))}`;
  const time = describeTime(cron);
  // "every minute" and "every hour" say it for all days.
  if (days === "day" && months === "" && !time.startsWith("at ")) return time;
  return days.startsWith("on ") ? `${time}, ${days}${months}` : `every ${days}${months} ${time}`;
}

function describeTime({ minutes, hours }: Cron): string {
  if (hours.length === 24) return everyHour(minutes);
  if (minutes.length * hours.length <= MAX_LISTED) {
    return `at ${join(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))}`;
  }
  const within = spans(
    hours,
    (hour) => `${two(hour)}:00`,
    "–",
    (hour) => `${two(hour)}:59`,
  );
  const hourly = stepOf(hours, 24);
  if (hourly && minutes.length <= MAX_LISTED) return `every ${hourly} hours ${pastHour(minutes)}`;
  return `${everyHour(minutes)} from ${join(within)}`;
}

function everyHour(minutes: readonly number[]): string {
  if (minutes.length === 60) return "every minute";
  const step = stepOf(minutes, 60);
  if (step) return `every ${step} minutes`;
  return minutes.length === 1 && minutes[0] === 0 ? "every hour" : `every hour ${pastHour(minutes)}`;
}

const pastHour = (minutes: readonly number[]): string =>
  minutes.length === 1 && minutes[0] === 0
    ? "on the hour"
    : `at minute${minutes.length === 1 ? "" : "s"} ${join(spans(minutes, String))}`;

function describeDays({ days, weekdays, hasDays, hasWeekdays }: Cron): string {
  const weekday = (): string => {
    if (weekdays.length === 7) return "day";
    if (weekdays.join() === "1,2,3,4,5") return "weekday";
    return join(weekdays.map((day) => WEEKDAYS[day]!));
  };
  const date = (): string => `on day ${join(spans(days, String))} of the month`;
  if (!hasDays) return weekday();
  return hasWeekdays ? `${date()} or on every ${weekday()}` : date();
}

/** n if the values are every n-th from 0 and n divides the whole. */
function stepOf(values: readonly number[], whole: number): number | undefined {
  const step = values[1];
  if (values[0] !== 0 || step === undefined || step < 2 || whole % step !== 0) return undefined;
  return values.length === whole / step && values.every((value, index) => value === index * step) ? step : undefined;
}

/** Runs of three and more values become ranges. */
function spans(
  values: readonly number[],
  name: (value: number) => string,
  dash = "–",
  last: (value: number) => string = name,
): string[] {
  const found: string[] = [];
  const isSpan = last !== name;
  for (let at = 0; at < values.length;) {
    let end = at;
    while (values[end + 1] === values[end]! + 1) end += 1;
    const size = end - at + 1;
    if (isSpan || size > 2) found.push(`${name(values[at]!)}${dash}${last(values[end]!)}`);
    else for (const value of values.slice(at, end + 1)) found.push(name(value));
    at = end + 1;
  }
  return found;
}

const join = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

const two = (value: number): string => String(value).padStart(2, "0");
