import { setImmediate } from "node:timers/promises";
import type { ColumnKind } from "@tandem/connectors";
import { type NameEvidence, nameEvidence, ownership } from "./names/name-evidence.ts";
import { KeyIndex } from "./keys/key-index.ts";
import { type ColumnFacts, kindFit, type TableFacts } from "./data/table-facts.ts";
import { hasRole, roleEvidence } from "./names/roles.ts";
import { isMainFor, type Key } from "./data/key.ts";
import type { ValueIndex } from "./keys/value-index.ts";
import type { Vocabulary } from "./names/vocabulary.ts";

/** A column that may refer to a key. */
export interface Candidate {
  from: ColumnFacts;
  key: Key;
  to: ColumnFacts;
  name: NameEvidence;
  /** Reason of a suggestion. */
  suggestion?: string;
}

const LEAST_NAME = 0.4;
const BY_NAME_PER_COLUMN = 8;
const COLUMNS_BEFORE_YIELD = 1_000;
const BY_RANGE_PER_COLUMN = 6;
/** Text and UUIDs are screened by a few examples first. */
const BY_VALUE_PER_COLUMN = 40;

/** Whether a column identifies its own rows and is not a reference. */
export function isOwnKey(column: ColumnFacts, keys: ReadonlyMap<TableFacts, readonly Key[]>): boolean {
  const primary = keys.get(column.table)?.find((key) => key.primary);
  return primary?.columns.length === 1 && primary.columns[0] === column;
}

/** The best pairs by name for each column. Yields to other work in between: a large schema takes seconds. */
export async function candidatesByName(
  columns: readonly ColumnFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  vocabulary: Vocabulary,
  onProgress?: (done: number, total: number) => void,
): Promise<Candidate[]> {
  const index = new KeyIndex([...keys.values()].flat(), vocabulary);
  const candidates: Candidate[] = [];
  for (const [at, from] of columns.entries()) {
    candidates.push(...nearByName(from, index, keys, vocabulary));
    if ((at + 1) % COLUMNS_BEFORE_YIELD > 0) continue;
    onProgress?.(at + 1, columns.length);
    await setImmediate();
  }
  return candidates;
}

function nearByName(
  from: ColumnFacts,
  index: KeyIndex,
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  vocabulary: Vocabulary,
): Candidate[] {
  const found: Candidate[] = [];
  for (const key of index.near(from)) {
    const [to] = key.columns;
    if (!to || to === from || kindFit(from, to) === 0) continue;
    const name = nameEvidence(from, key, vocabulary, index.commonness(key));
    if (name.score < LEAST_NAME) continue;
    if (isOwnKey(from, keys) && !isInherited(from, key, name, vocabulary)) continue;
    found.push({ from, key, to, name });
  }
  return found.toSorted((a, b) => b.name.score - a.name.score).slice(0, BY_NAME_PER_COLUMN);
}

/**
 * A key inherited from another table: `customer_id` of customer_details. Otherwise a table's own key is never a
 * reference.
 */
function isInherited(from: ColumnFacts, key: Key, name: NameEvidence, vocabulary: Vocabulary): boolean {
  if (key.table === from.table || name.score < 0.8 || !key.primary) return false;
  const readings = vocabulary.read(from).filter(({ entity }) => entity.length > 0);
  if (readings.length === 0) return false;
  const mine = Math.max(...readings.map((reading) => ownership(reading, from.table, vocabulary)));
  const theirs = Math.max(...readings.map((reading) => ownership(reading, key.table, vocabulary)));
  if (theirs > mine + 0.05) return true;
  // Neither table is named after the key: the one with fewer rows extends the other.
  return Math.max(mine, theirs) < 0.45 && name.score >= 0.85 && (from.table.rows ?? 0) < (key.table.rows ?? 0);
}

/** Single-column keys by kind, for comparison by role or value. */
export type KeysByKind = ReadonlyMap<ColumnKind, readonly Key[]>;

export const keysByKind = (keys: readonly Key[]): KeysByKind =>
  Map.groupBy(
    keys.filter(({ columns }) => columns.length === 1),
    ({ columns }) => columns[0]!.kind,
  );

/** Pairs by role if the name contains no table: `parent_id`, `created_by`, `ManagerID`. */
export function candidatesByRole(from: ColumnFacts, keys: KeysByKind, vocabulary: Vocabulary): Candidate[] {
  if (!hasRole(from, vocabulary)) return [];
  return (keys.get(from.kind) ?? []).flatMap((key): Candidate[] => {
    const to = key.columns[0]!;
    if (!isMainFor(key, from) || to === from || kindFit(from, to) < 1) return [];
    if (roleEvidence(from, key.table, vocabulary).points < 2) return [];
    return [{ from, key, to, name: nameEvidence(from, key, vocabulary) }];
  });
}

/** Pairs by value, tightest fit first. */
export function candidatesByValue(from: ColumnFacts, index: ValueIndex, vocabulary: Vocabulary): Candidate[] {
  const { profile } = from;
  if (!profile || profile.distinct === 0) return [];
  return index
    .near(from, from.kind === "integer" ? BY_RANGE_PER_COLUMN : BY_VALUE_PER_COLUMN)
    .map((key) => ({ from, key, to: key.columns[0]!, name: nameEvidence(from, key, vocabulary) }));
}
