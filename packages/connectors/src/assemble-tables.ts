import { checkCondition } from "./check-condition.ts";
import { columnKind } from "./column-kind.ts";
import type { Column, ForeignKey, Table, TableName } from "./connection.ts";

/** Catalogue rows; rows of one key are adjacent and in the key's order. */
export interface CatalogueRows {
  relations: readonly { schema: string; name: string; isView: boolean; comment: string | null; rows: number | null }[];
  columns: readonly {
    schema: string;
    table: string;
    name: string;
    type: string;
    /** Set where the type's name does not tell. */
    kind?: Column["kind"];
    nullable: boolean;
    comment: string | null;
    labels?: readonly string[] | undefined;
  }[];
  keys: readonly { schema: string; table: string; key: string; isPrimary: boolean; column: string }[];
  foreignKeys: readonly {
    schema: string;
    table: string;
    key: string;
    column: string;
    toSchema: string;
    toTable: string;
    toColumn: string;
  }[];
  checks: readonly { schema: string; table: string; sql: string }[];
}

/** A row as information_schema and pg_catalog give it. */
type Row = readonly (string | null)[];

export const toForeignKey = ([schema, table, key, column, toSchema, toTable, toColumn]: Row) => ({
  schema: schema!,
  table: table!,
  key: key!,
  column: column!,
  toSchema: toSchema!,
  toTable: toTable!,
  toColumn: toColumn!,
});

export const toCheck = ([schema, table, sql]: Row) => ({ schema: schema!, table: table!, sql: sql! });

/** Builds the tables from a few queries over the whole database, instead of one query per table. */
export function assembleTables(rows: CatalogueRows): Table[] {
  const columns = Map.groupBy(rows.columns, owner);
  const keys = Map.groupBy(rows.keys, owner);
  const foreignKeys = Map.groupBy(rows.foreignKeys, owner);
  const checks = Map.groupBy(rows.checks, owner);
  return rows.relations.map((relation): Table => {
    const id = tableKey(relation);
    const own = [...Map.groupBy(keys.get(id) ?? [], ({ key }) => key).values()];
    return {
      schema: relation.schema,
      name: relation.name,
      type: relation.isView ? "view" : "table",
      ...(relation.comment && { comment: relation.comment }),
      columns: (columns.get(id) ?? []).map(({ name, type, kind, nullable, comment, labels }) => ({
        name,
        type,
        kind: kind ?? columnKind(type),
        nullable,
        ...(labels && { labels }),
        ...(comment && { comment }),
      })),
      primaryKey: own.find((parts) => parts[0]!.isPrimary)?.map(({ column }) => column) ?? [],
      uniqueKeys: own.filter((parts) => !parts[0]!.isPrimary).map((parts) => parts.map(({ column }) => column)),
      foreignKeys: [...Map.groupBy(foreignKeys.get(id) ?? [], ({ key }) => key).values()].map((parts): ForeignKey => ({
        columns: parts.map(({ column }) => column),
        to: { schema: parts[0]!.toSchema, name: parts[0]!.toTable },
        toColumns: parts.map(({ toColumn }) => toColumn),
      })),
      ...(checks.has(id) && { checks: checks.get(id)!.map(({ sql }) => checkCondition(sql)) }),
      ...(relation.rows !== null && { estimatedRows: relation.rows }),
    };
  });
}

/** A map key for a table. Names may contain dots, but no NUL. */
export const tableKey = ({ schema, name }: TableName): string => `${schema}\0${name}`;

const owner = ({ schema, table }: { schema: string; table: string }): string => tableKey({ schema, name: table });
