import type { Overlap } from "./overlap.ts";
import type { ColumnFacts } from "./table-facts.ts";

/** Evidence from values: points and a sentence. */
export interface ValueEvidence {
  points: number;
  /** The match is no coincidence. */
  telling: boolean;
  says: string;
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/**
 * Matching values prove much if the key's values are distinctive, and nothing if the key counts 1, 2, 3 … and so
 * contains every small number. Then only the fit of the ranges counts.
 */
export function valueEvidence(from: ColumnFacts, to: ColumnFacts, overlap: Overlap, named: boolean): ValueEvidence {
  // 0 or empty text often means "none", but in an unnamed column it is a plain value.
  const checked = overlap.checked - (named ? overlap.none : 0);
  const { found } = overlap;
  if (checked <= 0) return { points: 0, telling: false, says: "It has no values to compare." };
  const ratio = found / checked;
  const says = `${found} of ${checked} distinct values are found there.`;
  if (ratio < 1) {
    // Orphans of deleted rows are rare, but each may have a value of its own.
    const whole = wholeOverlap(from, to, found, named);
    const isRowWise = overlap.rows >= 100 && found >= 10 && ratio >= 0.5 && (named || whole.telling);
    if (isRowWise && overlap.foundRows >= overlap.rows * (named ? 0.93 : 0.96)) {
      return { ...whole, says: `${says} ${overlap.foundRows} of ${overlap.rows} rows match.` };
    }
    if (ratio >= 0.97 && checked >= 30) return { ...whole, says };
    const points = ratio >= 0.9 ? -0.7 : ratio >= 0.75 ? -2 : ratio >= 0.5 ? -4.5 : -9;
    return { points, telling: false, says };
  }
  const evidence = wholeOverlap(from, to, found, named);
  return {
    ...evidence,
    says: `${checked === 1 ? "Its one value is" : `All ${checked} distinct values are`} found there${evidence.says}.`,
  };
}

function wholeOverlap(from: ColumnFacts, to: ColumnFacts, found: number, named: boolean): ValueEvidence {
  const bits = found * bitsPerValue(to);
  if (!counts(to)) {
    const points = clamp(bits / 6, 0, 6.5);
    const telling = bits >= 30 && found >= 3;
    return { points, telling, says: telling ? ", which is no accident" : "" };
  }
  const fit = rangeFit(from, to);
  const singular = named ? 0 : singularity(from);
  const points = named ? clamp(fit, -0.5, 1) : fit + singular;
  if (singular >= 2) return { points, telling: false, says: ", and none of them twice, as measures would be" };
  if (fit >= 1.5) return { points, telling: false, says: ", and they range over all of its key" };
  return { points, telling: false, says: named ? "" : ", as many numbers would be" };
}

/** Improbability, in bits, that a random value of this form is in the key. */
function bitsPerValue(to: ColumnFacts): number {
  const rows = Math.max(1, to.profile?.distinct ?? 1, to.table.rows ?? 1);
  if (to.kind === "integer") return Math.log2(1 / Math.min(1, density(to)));
  if (to.kind === "uuid") return 40;
  const length = to.profile?.lengths?.[0] ?? 4;
  return clamp(Math.log2(30 ** Math.min(length, 6) / rows), 0.3, 20);
}

/** Fraction of the numbers between minimum and maximum that exist. */
export function density(column: ColumnFacts): number {
  const { min, max } = column;
  if (min === undefined || max === undefined) return 1;
  return Math.min(1, share(Math.max(column.table.rows ?? 0, 1), max - min + 1));
}

/** Whether a key counts 1, 2, 3 … without many gaps. */
export const counts = (column: ColumnFacts): boolean => column.kind === "integer" && density(column) >= 0.5;

/** Random numbers repeat; one-to-one references do not. A plain 1, 2, 3 … proves nothing. */
function singularity({ profile, table, min, max }: ColumnFacts): number {
  if (!profile?.unique || !table.seenWhole || min === undefined || max === undefined) return 0;
  const range = max - min + 1;
  return profile.distinct / range > 0.5 ? 0 : clamp(profile.distinct ** 2 / (2 * range), 0, 3);
}

/** Few repeated small numbers: a version or level rather than a reference. */
export function staysInCorner(from: ColumnFacts, to: ColumnFacts): boolean {
  if (!counts(to) || from.max === undefined || to.min === undefined || to.max === undefined) return false;
  const reach = (from.max - to.min) / Math.max(1, to.max - to.min);
  return from.filled >= 50 && (from.profile?.distinct ?? 0) <= 12 && reach < 0.1;
}

/** How well a column's range covers a dense key: up to 3.5, below 0 if it stays in a corner. */
function rangeFit(from: ColumnFacts, to: ColumnFacts): number {
  const [low, high, keyLow, keyHigh] = [from.min, from.max, to.min, to.max];
  if (low === undefined || high === undefined || keyLow === undefined || keyHigh === undefined) return 0;
  if (low < keyLow || high > keyHigh) return -2;
  const reach = keyHigh === keyLow ? 1 : (high - keyLow) / (keyHigh - keyLow);
  const start = keyHigh === keyLow ? 0 : (low - keyLow) / (keyHigh - keyLow);
  const distinct = from.profile?.distinct ?? 0;
  const weight = clamp(Math.log(Math.max(1, distinct)) / Math.log(40), 0, 1);
  // Hundreds of values that end at the key's end are stronger evidence than a few.
  const most = distinct >= 100 && reach >= 0.97 ? 3.5 : 2.5;
  const fit = most * reach ** 6 * (1 - Math.min(1, start * 3)) * weight;
  if (reach < 0.5 && from.filled >= 20) return reach < 0.2 ? -2 : -1;
  // Keys from 1200 to 1279 contain few other numbers: both ends are evidence.
  const isApart = keyLow >= 50 && keyLow > keyHigh - keyLow;
  return isApart && start <= 0.05 && reach >= 0.95 ? fit + 1.5 * weight : fit;
}
