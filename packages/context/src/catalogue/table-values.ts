import type { Value } from "@tandem/connectors";
import type { ColumnProfile, Relationship } from "@tandem/relationships";
import { canonicalJson } from "../canonical-json.ts";
import type { ColumnEntry, JoinEntry } from "./table-file.ts";

/** Longer values add nothing, and people read this file. */
const MAX_VALUE = 80;

/** Two digits, so that a growing table does not change its file every day. */
export function roundCount(count: number): number {
  if (count < 100) return Math.round(count);
  const unit = 10 ** (Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}

/** In hundredths; never rounds to exactly 0 or 1. */
function roundShare(share: number): number {
  const rounded = Math.round(share * 100) / 100;
  if (rounded === 0 && share > 0) return 0.01;
  return rounded === 1 && share < 1 ? 0.99 : rounded;
}

/** A field is one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

export function profileEntry(profile: ColumnProfile): NonNullable<ColumnEntry["profile"]> {
  const samples = profile.samples.map(shown).filter((value) => value !== undefined);
  return {
    nulls: roundShare(profile.nulls),
    distinct: roundCount(profile.distinct),
    min: shown(profile.min),
    max: shown(profile.max),
    samples: samples.length > 0 ? [...new Set(samples)] : undefined,
  };
}

/** A range may grow by this fraction before its file is updated. */
const GROWTH = 0.02;

/**
 * Keeps the stored profile if a range has only grown a little: the latest number or day of an active table changes
 * daily.
 */
export function settledProfile(old: ColumnEntry["profile"], next: NonNullable<ColumnEntry["profile"]>) {
  if (!old || old.nulls !== next.nulls || old.distinct !== next.distinct) return next;
  if (JSON.stringify(old.samples) !== JSON.stringify(next.samples)) return next;
  const [low, high, newLow, newHigh] = [old.min, old.max, next.min, next.max].map(position);
  if (low === undefined || high === undefined || newLow === undefined || newHigh === undefined) return next;
  const slack = (high - low) * GROWTH;
  return newLow <= low && newLow >= low - slack && newHigh >= high && newHigh <= high + slack ? old : next;
}

/** A number or a time as a position on a scale. */
function position(value: string | number | boolean | undefined): number | undefined {
  if (typeof value === "number") return value;
  const time = typeof value === "string" && /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function shown(value: Value | undefined): string | number | boolean | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "string") return value;
  const text = oneLine(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}

export function newJoinEntry(relationship: Relationship): JoinEntry {
  const { from, to, cardinality, origin, confidence, when, why } = relationship;
  return {
    columns: [...from.columns],
    to: `${to.table.schema}.${to.table.name}`,
    toColumns: [...to.columns],
    cardinality,
    origin,
    confidence: roundShare(confidence),
    ...(when && { when }),
    why: oneLine(why.join(" ")) || undefined,
  };
}

/** Keeps the stored join if only figures in its reason differ. */
export function settledJoin(old: JoinEntry, next: JoinEntry): JoinEntry {
  const { why: oldWhy = "", ...before } = old;
  const { why = "", ...after } = next;
  const withoutFigures = (text: string) => text.replaceAll(/\d+([.,]\d+)*/g, "0");
  const isSame = canonicalJson(before) === canonicalJson(after) && withoutFigures(oldWhy) === withoutFigures(why);
  return isSame ? old : next;
}

/** Identity of a join, independent of its other fields. */
export const joinKey = ({ columns, to, toColumns, when }: JoinEntry): string =>
  JSON.stringify([columns, to, toColumns, when?.column, when?.equals]);
