import type { Overlap } from "./overlap.ts";
import type { ColumnFacts } from "./table-facts.ts";

const known = new WeakMap<ColumnFacts, ReadonlySet<string> | null>();

/** All values of a column with few of them, normalised; undefined if some are unknown. */
export function knownValues(column: ColumnFacts): ReadonlySet<string> | undefined {
  let values = known.get(column);
  if (values === undefined) {
    const all = allValues(column);
    values = all ? new Set(all.map(normalised)) : null;
    known.set(column, values);
  }
  return values ?? undefined;
}

function allValues({ profile, table }: ColumnFacts): readonly unknown[] | undefined {
  if (!profile || !table.seenWhole || profile.distinct === 0) return undefined;
  if (profile.domain?.of === "all") return profile.domain.values;
  return profile.samples.length >= profile.distinct ? profile.samples : undefined;
}

/** A few values of a column, for a lookup. */
export const exampleValues = ({ profile }: ColumnFacts): readonly unknown[] =>
  profile?.samples.length ? profile.samples : (profile?.domain?.values ?? []);

/** Databases differ in case, accents and padding. Values that differ even so are equal in none. */
export const normalised = (value: unknown): string =>
  String(value).normalize("NFKD").replaceAll(/\p{M}/gu, "").trim().toLowerCase();

/** The answer without a query if two columns with known values have none in common. */
export function disjointOverlap(from: ColumnFacts, to: ColumnFacts): Overlap | undefined {
  if (from.kind !== to.kind || (from.kind !== "text" && from.kind !== "uuid")) return undefined;
  const [mine, theirs] = [knownValues(from), knownValues(to)];
  if (!mine || !theirs || [...mine].some((value) => theirs.has(value))) return undefined;
  const none = [...mine].filter((value) => NONE.has(value)).length;
  return { checked: mine.size, found: 0, none, rows: from.filled, foundRows: 0 };
}

const NONE = new Set(["", "0", "-1"]);
