/** Seconds since 1970 stay below this for 3,000 years; milliseconds have exceeded it since 1973. */
const FIRST_AS_MILLISECONDS = 1e11;

/** Parses a time in milliseconds or seconds since 1970, as a number or digits, or as RFC 3339. */
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
