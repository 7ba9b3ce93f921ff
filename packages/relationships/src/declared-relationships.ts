import type { Relationship } from "./relationship.ts";
import { type ColumnFacts, type TableFacts, tableId } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";

export interface Declared {
  relationships: Relationship[];
  /** Columns with a declared single-column foreign key; nothing else to find. */
  columns: Set<ColumnFacts>;
  /** Declared composite keys, as `table.column` joined by commas. */
  composites: Set<string>;
  referents: Map<ColumnFacts, ColumnFacts>;
  claimed: Set<TableFacts>;
}

/** Declared foreign keys: facts, and examples for learning. */
export function declaredRelationships(
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
): Declared {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const declared: Declared = {
    relationships: [],
    columns: new Set(),
    composites: new Set(),
    referents: new Map(),
    claimed: new Set(),
  };
  for (const table of tables) {
    for (const { columns, to, toColumns } of table.table.foreignKeys) {
      const target = byId.get(tableId(to));
      if (target) declared.claimed.add(target);
      const own = columns.map((name) => table.byName.get(name));
      if (columns.length === 1 && own[0]) {
        declared.columns.add(own[0]);
        const referent = target?.byName.get(toColumns[0] ?? "");
        if (referent) declared.referents.set(own[0], referent);
      } else declared.composites.add(columns.map((name) => `${table.id}.${name}`).join());
      const unique = keys.get(table)?.some(
        (key) =>
          key.unique === "declared" &&
          sameNames(
            key.columns.map(({ name }) => name),
            columns,
          ),
      );
      declared.relationships.push({
        from: { table: table.name, columns },
        to: { table: { schema: to.schema, name: to.name }, columns: toColumns },
        origin: "declared",
        status: "accepted",
        confidence: 1,
        cardinality: unique ? "one-to-one" : "many-to-one",
        why: ["The database declares it as a foreign key."],
      });
    }
  }
  return declared;
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));
