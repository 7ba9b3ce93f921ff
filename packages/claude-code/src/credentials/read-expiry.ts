/** Seconds since 1970 stay below this for three thousand years, and milliseconds have been above it since 1973. */
const FIRST_AS_MILLISECONDS = 1e11;

/** Reads a time given in milliseconds or seconds since 1970, as a number or in digits, or as RFC 3339. */
export function readExpiry(value: unknown): Date | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number") {
    const time = new Date(Math.abs(number) < FIRST_AS_MILLISECONDS ? number * 1_000 : number);
    return Number.isNaN(time.getTime()) ? undefined : time;
  }
  if (typeof number !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(number)) return undefined;
  const time = new Date(number);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
