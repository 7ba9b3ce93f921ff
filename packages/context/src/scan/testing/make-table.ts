import type { Column, Table } from "@tandem/connectors";
import type { ScannedTable } from "../../privacy/scanned-table.ts";

/** A table with text columns; `more` overrides fields. */
export function makeTable(name: string, columns: readonly string[], more: Partial<Table> = {}): Table {
  return {
    schema: "main",
    name,
    type: "table",
    columns: columns.map((column) => makeColumn(column)),
    primaryKey: [],
    uniqueKeys: [],
    foreignKeys: [],
    ...more,
  };
}

export const makeColumn = (name: string, more: Partial<Column> = {}): Column => ({
  name,
  type: "TEXT",
  kind: "text",
  nullable: true,
  ...more,
});

/** With these sampled values per column. */
export function makeScanned(table: Table, samples: Record<string, readonly string[]> = {}): ScannedTable {
  return {
    table,
    profile: {
      schema: table.schema,
      name: table.name,
      rows: 10,
      rowsAreExact: true,
      sampled: 10,
      unreadable: [],
      columns: table.columns.map(({ name }) => ({
        name,
        nulls: 0,
        distinct: samples[name]?.length ?? 5,
        unique: false,
        samples: samples[name] ?? [],
      })),
    },
  };
}
