import type { Relationship } from "@tandem/relationships";
import type { JoinEntry, TableFile } from "../catalogue/table-file.ts";
import type { FoundJoins } from "./find-joins.ts";
import { type ScannedTable, tableKey, tableLabel } from "./scanned-table.ts";

/** By table, the joins that lead away from it. */
export const joinsByTable = (relationships: readonly Relationship[]): Map<string, Relationship[]> =>
  Map.groupBy(relationships, ({ from }) => tableKey(from.table));

/**
 * The joins that a table's file is to have: those that were found, and those of the file that could not be looked for this time.
 * What could not be asked is no reason to forget what was known.
 */
export function joinsOfTable(
  { table, profile }: ScannedTable,
  file: TableFile | undefined,
  found: FoundJoins & { byTable: ReadonlyMap<string, readonly Relationship[]>; looked: ReadonlySet<string> },
): readonly Relationship[] {
  const own = found.byTable.get(tableKey(table)) ?? [];
  const seen = new Set(own.map((join) => identity(join.from.columns, tableLabel(join.to.table), join.to.columns)));
  const kept = (file?.joins ?? []).filter((entry) => {
    if (entry.origin === "human" || seen.has(identity(entry.columns, entry.to, entry.toColumns))) return false;
    const couldBeFound = profile !== undefined && found.looked.has(entry.to) && found.isComplete;
    return !couldBeFound || (entry.origin === "model" && !found.isModelComplete);
  });
  return [...own, ...kept.map((entry) => toRelationship(table, entry))];
}

const identity = (columns: readonly string[], to: string, toColumns: readonly string[]): string =>
  JSON.stringify([columns, to, toColumns]);

/** As it stands in the file. */
function toRelationship({ schema, name }: ScannedTable["table"], entry: JoinEntry): Relationship {
  const { columns, to, toColumns, cardinality, origin, confidence, when, why } = entry;
  const dot = to.indexOf(".");
  return {
    from: { table: { schema, name }, columns },
    to: { table: { schema: to.slice(0, dot), name: to.slice(dot + 1) }, columns: toColumns },
    origin: origin === "human" ? "data" : origin,
    status: "accepted",
    confidence,
    cardinality,
    ...(when && { when }),
    why: why === undefined ? [] : [why],
  };
}
