const HOUR_MS = 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the text names a zone of the IANA database. Offsets such as +02:00 are not zones. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(zone)) return false;
  try {
    format(zone);
    return true;
  } catch {
    return false;
  }
}

/** The zone's offset from UTC at an instant, in milliseconds. */
export function offsetAt(zone: string, instant: number): number {
  const whole = Math.floor(instant / 1_000) * 1_000;
  const fields: Record<string, number> = {};
  for (const { type, value } of format(zone).formatToParts(whole)) fields[type] = Number(value);
  const { year, month, day, hour, minute, second } = fields;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - whole;
}

export interface OffsetSpan {
  from: number;
  to: number;
  offset: number;
}

/**
 * Splits a span of time at the changes of the zone's offset. It samples every six hours: no zone changes its offset twice
 * within that time.
 */
export function offsetSpans(zone: string, from: number, to: number): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  let start = from;
  let offset = offsetAt(zone, from);
  for (let last = from; last < to;) {
    const next = Math.min(last + 6 * HOUR_MS, to);
    const later = offsetAt(zone, next);
    if (later !== offset) {
      const change = findChange(zone, last, next, offset);
      spans.push({ from: start, to: change, offset });
      start = change;
      offset = later;
    }
    last = next;
  }
  if (start < to) spans.push({ from: start, to, offset });
  return spans;
}

/** The first second with another offset. */
function findChange(zone: string, from: number, to: number, offset: number): number {
  let low = Math.floor(from / 1_000);
  let high = Math.ceil(to / 1_000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * 1_000) === offset) low = middle;
    else high = middle;
  }
  return high * 1_000;
}

function format(zone: string): Intl.DateTimeFormat {
  const found = formats.get(zone);
  if (found) return found;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, made);
  return made;
}
