import type { Column } from "@tandem/connectors";
import type { Relationship } from "@tandem/relationships";
import { profileOf, type ScannedTable, tableKey } from "../privacy/scanned-table.ts";

/** Longer values are prose, not keys. */
const MAX_KEY = 64;

/** Columns of a table that could be references and have no known join. */
export function unlinkedColumns(scanned: ScannedTable, linked: ReadonlyMap<string, ReadonlySet<string>>): Column[] {
  const { table } = scanned;
  const known = linked.get(tableKey(table));
  return table.columns.filter((column) => {
    const isOwnKey = table.primaryKey.length === 1 && table.primaryKey[0] === column.name;
    return !isOwnKey && !known?.has(column.name) && couldRefer(scanned, column);
  });
}

/** Columns with a join, by table. */
export function linkedColumns(relationships: readonly Relationship[]): Map<string, Set<string>> {
  const linked = new Map<string, Set<string>>();
  for (const { from, status } of relationships) {
    // A join under review is uncertain: the model may settle it.
    if (status !== "accepted") continue;
    const key = tableKey(from.table);
    linked.set(key, new Set([...(linked.get(key) ?? []), ...from.columns]));
  }
  return linked;
}

function couldRefer(scanned: ScannedTable, { name, kind }: Column): boolean {
  const profile = profileOf(scanned, name);
  const samples = profile?.samples ?? [];
  // Only nulls or one value: a match could be chance.
  if (profile && scanned.profile!.sampled > 1 && profile.distinct <= 1) return false;
  switch (kind) {
    case "integer":
    case "uuid":
    case "other":
      return true;
    case "text":
      return samples.every((value) => String(value).length <= MAX_KEY);
    case "decimal":
      return samples.every((value) => /^-?\d+(\.0*)?$/.test(String(value)));
    case "boolean":
    case "date":
    case "time":
    case "json":
    case "binary":
      return false;
  }
}
