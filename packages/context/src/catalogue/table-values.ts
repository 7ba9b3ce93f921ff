import { coverageOf, type Relationship, type TableProfile } from "@tandem/relationships";
import { canonicalJson } from "@tandem/protocol";
import type { StorableProfile } from "../privacy/storable-values.ts";
import { oneLine } from "./one-line.ts";
import { storedValues } from "./stored-values.ts";
import type { ColumnEntry, Exactness, JoinEntry, TableFile } from "./table-file.ts";

const ROUNDED_FROM = 100;

/** Two digits, so that a growing table does not change its file every day. */
function roundCount(count: number): number {
  if (count < ROUNDED_FROM) return Math.round(count);
  const unit = 10 ** (Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}

/** In hundredths; never rounds to exactly 0 or 1. */
function roundShare(share: number): number {
  const rounded = Math.round(share * 100) / 100;
  if (rounded === 0 && share > 0) return 0.01;
  return rounded === 1 && share < 1 ? 0.99 : rounded;
}

type Figures = Pick<TableProfile, "rows" | "rowsAreExact" | "sampled">;

/** The figures of a table. */
export function tableFigures(profile: Figures): Pick<TableFile, "rows" | "rowsAre" | "profiled"> {
  const { rows, rowsAreExact } = profile;
  return { rows: roundCount(rows), rowsAre: exactnessOf(rows, rowsAreExact), profiled: coverageOf(profile) };
}

export function profileEntry(column: StorableProfile, table: Figures): NonNullable<ColumnEntry["profile"]> {
  return { nulls: roundShare(column.nulls), ...distinctFigure(column, table), ...storedValues(column) };
}

/** Types without equality have no count. */
function distinctFigure({ distinct, samples, domain }: StorableProfile, table: Figures) {
  if (domain) return { distinct: domain.values.length, distinctIs: domain.of === "all" ? EXACT : ESTIMATED };
  if (distinct === 0 && samples.length > 0) return {};
  return { distinct: roundCount(distinct), distinctIs: exactnessOf(distinct, coverageOf(table) === "all") };
}

const [EXACT, ESTIMATED] = ["exact", "estimated"] as const;

/** A round number counts as rounded too; otherwise it would change its file by chance. */
function exactnessOf(count: number, isExact: boolean): Exactness {
  if (!isExact) return ESTIMATED;
  return count < ROUNDED_FROM ? EXACT : "rounded";
}

/** A range may grow by this fraction before its file is updated. */
const GROWTH = 0.02;

/**
 * Keeps the stored profile if a range has only grown a little: the latest number or day of an active table changes
 * daily.
 */
export function settledProfile(old: ColumnEntry["profile"], next: NonNullable<ColumnEntry["profile"]>) {
  if (!old) return next;
  const settled = { ...next, ...(next.samples && { samples: inOldOrder(old.samples ?? [], next.samples) }) };
  const { min: _low, max: _high, ...before } = old;
  const { min: _newLow, max: _newHigh, ...after } = settled;
  if (canonicalJson(before) !== canonicalJson(after)) return settled;
  const [low, high, newLow, newHigh] = [old.min, old.max, next.min, next.max].map(position);
  if (low === undefined || high === undefined || newLow === undefined || newHigh === undefined) return settled;
  const slack = (high - low) * GROWTH;
  return newLow <= low && newLow >= low - slack && newHigh >= high && newHigh <= high + slack ? old : settled;
}

type Samples = NonNullable<NonNullable<ColumnEntry["profile"]>["samples"]>;

/** New values come last, so that a changed frequency does not change the file. */
function inOldOrder(old: Samples, next: Samples): Samples {
  const [known, wanted] = [new Set(old), new Set(next)];
  return [...old.filter((value) => wanted.has(value)), ...next.filter((value) => !known.has(value))];
}

/** A number or a time as a position on a scale. */
function position(value: string | number | boolean | undefined): number | undefined {
  if (typeof value === "number") return value;
  const time = typeof value === "string" && /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function newJoinEntry(relationship: Relationship): JoinEntry {
  const { from, to, cardinality, origin, confidence, evidence, when, why } = relationship;
  return {
    columns: [...from.columns],
    to: `${to.table.schema}.${to.table.name}`,
    toColumns: [...to.columns],
    cardinality,
    origin,
    confidence: roundShare(confidence),
    ...(evidence && { evidence: { compared: evidence.checked, matched: evidence.found, of: evidence.of } }),
    ...(when && { when }),
    why: oneLine(why.join(" ")) || undefined,
  };
}

/** Keeps the stored join if only figures in its reason and evidence differ. */
export function settledJoin(old: JoinEntry, next: JoinEntry): JoinEntry {
  return canonicalJson(withoutFigures(old)) === canonicalJson(withoutFigures(next)) ? old : next;
}

const withoutFigures = ({ why = "", evidence, ...join }: JoinEntry) => ({
  ...join,
  why: why.replaceAll(/\d+([.,]\d+)*/g, "0"),
  evidence: evidence && {
    of: evidence.of,
    share: roundShare(evidence.compared === 0 ? 0 : evidence.matched / evidence.compared),
  },
});

/** Identity of a join, independent of its other fields. */
export const joinKey = ({ columns, to, toColumns, when }: JoinEntry): string =>
  JSON.stringify([columns, to, toColumns, when?.column, when?.equals]);
