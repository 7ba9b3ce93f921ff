import { MetricError } from "../metric-error.ts";

/** Offsets of a time zone from UTC. Not every database has its own table of time zones, so the statement carries them. */
export interface ZoneOffsets {
  readonly name: string;
  /** Each offset applies before its time, in UTC: `2026-03-29 01:00:00`. */
  readonly changes: readonly { readonly before: string; readonly seconds: number }[];
  /** Applies after the last change. */
  readonly last: number;
}

const FIRST = Date.UTC(1970, 0, 1);
const LAST = Date.UTC(2051, 0, 1);
/** No zone has two changes within so short a time. */
const STEP = 6 * 86_400_000;

const known = new Map<string, ZoneOffsets>();

/** Throws `unknown_name` if there is no such zone. Before 1970 and after 2050, the nearest known offset applies. */
export function zoneOffsets(name: string): ZoneOffsets {
  const found = known.get(name);
  if (found) return found;
  const offsetAt = offsetReader(name);
  const changes: { before: string; seconds: number }[] = [];
  let offset = offsetAt(FIRST);
  for (let at = FIRST; at < LAST; at += STEP) {
    const next = offsetAt(at + STEP);
    if (next === offset) continue;
    changes.push({ before: utcText(changeBetween(at, at + STEP, offsetAt)), seconds: offset });
    offset = next;
  }
  const offsets = { name, changes, last: offset };
  known.set(name, offsets);
  return offsets;
}

/** The UTC time at which a clock of the zone shows this local time; the earlier one if it shows it twice. */
export function utcOfLocal(local: string, zone: ZoneOffsets): string {
  const wall = Date.parse(`${local.replace(" ", "T")}Z`);
  const offsets = [...zone.changes.map(({ seconds }) => seconds), zone.last];
  const candidates = [...new Set(offsets)]
    .map((seconds) => wall - seconds * 1_000)
    .filter((utc) => utc + offsetOf(utcText(utc), zone) * 1_000 === wall);
  // A local time that the clock skips becomes the moment of the change.
  if (candidates.length === 0) return utcText(wall - offsetOf(utcText(wall - 86_400_000), zone) * 1_000);
  return utcText(Math.min(...candidates));
}

export const offsetOf = (utc: string, { changes, last }: ZoneOffsets): number =>
  changes.find(({ before }) => utc < before)?.seconds ?? last;

export const utcText = (time: number): string => new Date(time).toISOString().slice(0, 19).replace("T", " ");

function offsetReader(name: string): (at: number) => number {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    return (at) => {
      const text = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
      const match = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
      if (!match)
        throw new MetricError("unsupported", `The offset ${text} of the time zone ${name} is not understood.`);
      const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
      return (sign === "-" ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds));
    };
  } catch (error) {
    if (error instanceof MetricError) throw error;
    throw new MetricError("unknown_name", `There is no time zone ${name}.`, "Use a name such as Europe/Berlin.");
  }
}

/** By bisection to the second. */
function changeBetween(from: number, until: number, offsetAt: (at: number) => number): number {
  const old = offsetAt(from);
  let [low, high] = [from, until];
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (offsetAt(middle) === old) low = middle;
    else high = middle;
  }
  return high;
}
