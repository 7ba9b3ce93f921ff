import type { Relationship } from "@tandem/relationships";
import type { JoinEntry, TableFile } from "../catalogue/table-file.ts";
import type { FoundJoins } from "./find-joins.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";

/** Outgoing joins by table. */
export const joinsByTable = (relationships: readonly Relationship[]): Map<string, Relationship[]> =>
  Map.groupBy(relationships, ({ from }) => tableKey(from.table));

/**
 * Desired joins of a table's file: the found ones, plus existing ones that could not be checked this time. An unchecked
 * join must not be forgotten.
 */
export function joinsOfTable(
  { table, profile }: ScannedTable,
  file: TableFile | undefined,
  found: FoundJoins & { byTable: ReadonlyMap<string, readonly Relationship[]>; looked: ReadonlySet<string> },
): readonly Relationship[] {
  const own = found.byTable.get(tableKey(table)) ?? [];
  const seen = new Map(own.map((join) => [keyOf(join), join]));
  const kept = (file?.joins ?? []).filter((entry) => {
    const same = seen.get(identity(entry.columns, entry.to, entry.toColumns));
    if (entry.origin === "human" || same?.status === "accepted") return false;
    // Without the model, the data alone is not sufficient but does not contradict it either.
    if (entry.origin === "model" && !found.isModelComplete) return !isContradicted(same);
    const couldBeFound = profile !== undefined && found.looked.has(entry.to) && found.isComplete;
    return same === undefined && !couldBeFound;
  });
  const asBefore = new Set(kept.map((entry) => identity(entry.columns, entry.to, entry.toColumns)));
  const added = own.filter((join) => !asBefore.has(keyOf(join)));
  return [...added, ...kept.map((entry) => toRelationship(table, entry))];
}

/** The values do not match: not even a suggestion would help. */
function isContradicted(join: Relationship | undefined): boolean {
  const { checked, found } = join?.evidence ?? { checked: 0, found: 0 };
  return join?.status === "rejected" && found < 0.9 * checked;
}

const keyOf = ({ from, to }: Relationship): string => identity(from.columns, tableLabel(to.table), to.columns);

const identity = (columns: readonly string[], to: string, toColumns: readonly string[]): string =>
  JSON.stringify([columns, to, toColumns]);

/** As in the file. */
function toRelationship({ schema, name }: ScannedTable["table"], entry: JoinEntry): Relationship {
  const { columns, to, toColumns, cardinality, origin, confidence, evidence, when, why } = entry;
  const dot = to.indexOf(".");
  return {
    from: { table: { schema, name }, columns },
    to: { table: { schema: to.slice(0, dot), name: to.slice(dot + 1) }, columns: toColumns },
    origin: origin === "human" ? "data" : origin,
    status: "accepted",
    confidence,
    cardinality,
    ...(evidence && {
      evidence: { checked: evidence.compared, found: evidence.matched, of: evidence.of, nulls: 0, unique: true },
    }),
    ...(when && { when }),
    why: why === undefined ? [] : [why],
  };
}
