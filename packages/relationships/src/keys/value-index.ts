import type { ColumnKind } from "@tandem/connectors";
import { type ColumnFacts, isNumericText, kindFit } from "../data/table-facts.ts";
import { exampleValues, knownValues, normalised } from "../data/known-values.ts";
import { density } from "../data/value-evidence.ts";
import { isMainFor, type Key } from "../data/key.ts";

/** Keys examined per column and list: bounds the work in a schema of tens of thousands of keys. */
const EXAMINED = 400;
/** Distinct values of a column relative to the rows of a key that may contain most of them. */
const MOST_VALUES = 1.3;
/** Values looked up per column. */
const EXAMPLES = 20;
/** A few orphans are common, so that some of a column's examples may be missing in the key. */
const LEAST_SHARE = 0.6;

/**
 * Finds the keys that may contain a column's values, without comparing each column with each key. A key whose values are
 * all known is found by value; others by size or range, the tightest fit first.
 */
export class ValueIndex {
  readonly #byValue = new Map<string, Key[]>();
  /** Keys with unknown values: by rows, or by their maximum if they are integers. */
  readonly #bySize = new Map<ColumnKind, { key: Key; size: number }[]>();
  /** Sparse integer keys contain few numbers by chance: examined before the others. */
  readonly #sparse: Key[] = [];

  constructor(keys: readonly Key[]) {
    for (const key of keys) {
      const [to] = key.columns;
      if (!to || key.columns.length > 1 || !to.table.rows) continue;
      if (!key.primary && key.unique !== "declared" && !isCode(to)) continue;
      const values = to.kind === "integer" ? undefined : knownValues(to);
      if (values) this.#addValues(key, values);
      else if (to.kind === "integer" && density(to) < 0.5) this.#sparse.push(key);
      else {
        const entries = this.#bySize.get(to.kind) ?? [];
        entries.push({ key, size: to.kind === "integer" ? (to.max ?? Infinity) : to.table.rows });
        this.#bySize.set(to.kind, entries);
      }
    }
    for (const entries of this.#bySize.values()) entries.sort((a, b) => a.size - b.size);
  }

  #addValues(key: Key, values: ReadonlySet<string>): void {
    for (const value of values) {
      const keys = this.#byValue.get(value);
      if (keys) keys.push(key);
      else this.#byValue.set(value, [key]);
    }
  }

  /** Tightest fit first. */
  near(from: ColumnFacts, limit: number): Key[] {
    const near = [...this.#withValues(from), ...this.#withSpace(from, from.kind)];
    if (isNumericText(from)) near.push(...this.#withSpace(from, "integer"));
    if (from.kind === "integer") near.push(...this.#withSpace(from, "text"));
    const fits = near
      .filter((key) => isPossible(key, from))
      .map((key) => ({ key, room: roomIn(key.columns[0]!, from) }));
    return fits
      .toSorted((a, b) => a.room - b.room)
      .slice(0, limit)
      .map(({ key }) => key);
  }

  #withValues(from: ColumnFacts): Key[] {
    const samples = exampleValues(from).slice(0, EXAMPLES);
    const hits = new Map<Key, number>();
    for (const sample of samples) {
      for (const key of this.#byValue.get(normalised(sample)) ?? []) hits.set(key, (hits.get(key) ?? 0) + 1);
    }
    return [...hits].filter(([, count]) => count >= samples.length * LEAST_SHARE).map(([key]) => key);
  }

  #withSpace(from: ColumnFacts, kind: ColumnKind): Key[] {
    const entries = this.#bySize.get(kind) ?? [];
    const least = kind === "integer" ? (from.max ?? -Infinity) : (from.profile?.distinct ?? 0) / MOST_VALUES;
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (entries[middle]!.size < least) low = middle + 1;
      else high = middle;
    }
    const tight = entries.slice(low, low + EXAMINED).map(({ key }) => key);
    return kind === "integer" ? [...this.#sparse.slice(0, EXAMINED), ...tight] : tight;
  }
}

function isPossible(key: Key, from: ColumnFacts): boolean {
  const to = key.columns[0]!;
  if (to === from || kindFit(from, to) < 0.8 || !couldContain(to, from)) return false;
  return key.primary || key.unique === "declared" || isMainFor(key, from);
}

/** Short text without spaces, which identifies rows instead of describing them. */
const isCode = ({ kind, profile }: ColumnFacts): boolean =>
  kind === "uuid" ||
  (kind === "text" &&
    (profile?.lengths?.[1] ?? 0) <= 40 &&
    (profile?.samples ?? []).every((value) => !/\s/.test(String(value))));

function couldContain(to: ColumnFacts, from: ColumnFacts): boolean {
  // A few more values than rows: orphans.
  if ((from.profile?.distinct ?? 0) > (to.table.rows ?? 0) * MOST_VALUES) return false;
  if (from.kind === "integer" || to.kind === "integer") {
    if (from.min === undefined || to.min === undefined || from.max === undefined || to.max === undefined) return true;
    return from.min >= to.min && from.max <= to.max;
  }
  const [mine, theirs] = [from.profile?.lengths, to.profile?.lengths];
  if (!mine || !theirs || !to.table.seenWhole) return true;
  return mine[0] >= theirs[0] && mine[1] <= theirs[1];
}

/** Unused capacity of the key's range: less is a tighter fit. Sparse keys first. */
function roomIn(to: ColumnFacts, from: ColumnFacts): number {
  if (to.kind === "integer" && to.max !== undefined && from.max !== undefined) {
    return density(to) < 0.5 ? -1 : to.max - from.max;
  }
  return (to.table.rows ?? 0) - (from.profile?.distinct ?? 0);
}
