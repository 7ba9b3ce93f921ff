/** From fine to coarse. Weeks begin on Monday. */
export const GRANULARITIES = ["minute", "hour", "day", "week", "month", "quarter", "year"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

export const MONTHS: Partial<Record<Granularity, number>> = { month: 1, quarter: 3, year: 12 };
export const MINUTES: Partial<Record<Granularity, number>> = { minute: 1, hour: 60, day: 1_440, week: 10_080 };

/** Whether every period of `coarse` consists of whole periods of `fine`. */
export function contains(coarse: Granularity, fine: Granularity): boolean {
  if (coarse === fine) return true;
  // A month starts in the middle of a week.
  if (fine === "week") return false;
  return GRANULARITIES.indexOf(fine) < GRANULARITIES.indexOf(coarse);
}

/** Whether moving a period of `unit` by so many periods of `by` gives another whole period of `unit`. */
export function canShift(unit: Granularity, by: { count: number; unit: Granularity }): boolean {
  const months = MONTHS[unit];
  if (months !== undefined) return MONTHS[by.unit] !== undefined && (by.count * MONTHS[by.unit]!) % months === 0;
  const [minutes, own] = [MINUTES[by.unit], MINUTES[unit]];
  return minutes !== undefined && own !== undefined && (by.count * minutes) % own === 0;
}
