import { cronTimes } from "@tandem/protocol";
import { handledTo, scheduleOf, type StoredDeployment } from "./stored-deployment.ts";

/** A scheduled run starts at most this much late, after downtime or sleep. */
export const LATE_MS = 60 * 60 * 1_000;
/** At most so many missed times get a run of their own; the oldest of those counts the others. */
const MAX_MISSED = 100;

export interface DueTimes {
  /** The latest time, if it is recent enough to start. */
  start: number | undefined;
  /** Oldest first. */
  missed: number[];
  /** Missed times before those. */
  earlier: number;
  /** The last of all. */
  last: number;
}

/** The times up to now that have not been handled; undefined if there are none. */
export function dueTimes(deployment: StoredDeployment, now: number): DueTimes | undefined {
  const schedule = scheduleOf(deployment);
  if (!schedule) return undefined;
  const times: number[] = [];
  let earlier = 0;
  for (const time of cronTimes(schedule.cron, schedule.zone, handledTo(deployment, now))) {
    if (time > now) break;
    times.push(time);
    if (times.length > 2 * MAX_MISSED) earlier += times.splice(0, times.length - MAX_MISSED - 1).length;
  }
  const last = times.at(-1);
  if (last === undefined) return undefined;
  const isRecent = now - last < LATE_MS;
  const missed = isRecent ? times.slice(0, -1) : times;
  const dropped = missed.splice(0, Math.max(0, missed.length - MAX_MISSED)).length;
  return { start: isRecent ? last : undefined, missed, earlier: earlier + dropped, last };
}
