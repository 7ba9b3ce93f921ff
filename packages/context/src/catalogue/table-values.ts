import type { Value } from "@tandem/connectors";
import type { ColumnProfile, Relationship } from "@tandem/relationships";
import type { ColumnEntry, JoinEntry } from "./table-file.ts";

/** Longer values tell no more, and a file is to be read by people. */
const MAX_VALUE = 80;

/** Two digits, so that a table that grows does not change its file every day. */
export function roundCount(count: number): number {
  if (count < 100) return Math.round(count);
  const unit = 10 ** (Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}

/** In hundredths; what is not nothing and not everything does not become so. */
function roundShare(share: number): number {
  const rounded = Math.round(share * 100) / 100;
  if (rounded === 0 && share > 0) return 0.01;
  return rounded === 1 && share < 1 ? 0.99 : rounded;
}

/** One line, for a field is one. */
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

/** Two joins of one key are the same join, whatever else is said of them. */
export const joinKey = ({ columns, to, toColumns, when }: JoinEntry): string =>
  JSON.stringify([columns, to, toColumns, when?.column, when?.equals]);
