/**
 * How a day's sessions are spread over its hours: people work in two humps, and some things run at night. Shares of the day's
 * total; the busiest hour has a little more than twice the mean.
 */
const HOURS = [
  1.2, 1, 0.9, 0.9, 1, 1.4, 2.2, 3.8, 6.4, 8.4, 8.9, 7.9, 6, 6.7, 8.6, 8.8, 7.9, 5.8, 3.9, 2.9, 2.4, 2, 1.6, 1.4,
];
const TOTAL = HOURS.reduce((sum, share) => sum + share, 0);

/** Within an hour, arrivals swell and ebb: a minute may have half as many again as its hour's mean. */
export const MINUTE_PEAK = 1.5;

export const shareOfHour = (hour: number): number => HOURS[hour % 24]! / TOTAL;

export const BUSIEST_HOUR = HOURS.indexOf(Math.max(...HOURS));

/** Arrivals per second at a moment of the day, in seconds from midnight, for so many a day. */
export function rateAt(seconds: number, perDay: number): number {
  const hour = Math.floor(seconds / 3_600);
  const wave = 1 + (MINUTE_PEAK - 1) * Math.sin((2 * Math.PI * seconds) / 900);
  return (perDay * shareOfHour(hour) * wave) / 3_600;
}
