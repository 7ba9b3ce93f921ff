import { describeCron, isTimeZone, parseCron, upcomingTimes } from "@tandem/protocol";

const SHOWN_TIMES = 5;

export type SchedulePreview = { isValid: true; words: string; times: string[] } | { isValid: false; reason: string };

/** A schedule in words with its next times, while it is being typed. */
export function previewSchedule(expression: string, timezone: string): SchedulePreview {
  const parsed = parseCron(expression);
  if (!parsed.ok) return { isValid: false, reason: `Not a schedule: ${parsed.reason}.` };
  if (!isTimeZone(timezone)) return { isValid: false, reason: "Not a time zone. Write one such as Europe/Berlin." };
  const times = upcomingTimes(parsed.cron, timezone, Date.now(), SHOWN_TIMES);
  return {
    isValid: true,
    words: capital(`${describeCron(parsed.cron)}, ${timezone}`),
    times: times.map((time) => timeIn(new Date(time).toISOString(), timezone)),
  };
}

export function scheduleWords(schedule: { expression: string; timezone: string } | null): string {
  if (!schedule) return "On request only";
  const parsed = parseCron(schedule.expression);
  return capital(`${parsed.ok ? describeCron(parsed.cron) : schedule.expression}, ${schedule.timezone}`);
}

/** In the zone of the schedule, such as "Mon, 2 Mar, 09:00". */
export const timeIn = (time: string, timezone: string): string =>
  new Date(time).toLocaleString("en-GB", {
    timeZone: timezone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });

/** The zone of this browser. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
