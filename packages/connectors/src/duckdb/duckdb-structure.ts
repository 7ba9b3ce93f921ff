import { assembleTables, tableKey } from "../assemble-tables.ts";
import { enumLabels } from "../enum-labels.ts";
import type { Table, Value } from "../connection.ts";

type Ask = (sql: string) => Promise<readonly (readonly Value[])[]>;

export async function readStructure(ask: Ask): Promise<Table[]> {
  const relations = await ask(RELATIONS);
  const columns = (await ask(COLUMNS)).map(([schema, table, name, type, nullable, comment]) => ({
    schema: String(schema),
    table: String(table),
    name: String(name),
    type: String(type),
    kind: String(type).startsWith("ENUM") ? ("text" as const) : undefined,
    nullable: nullable === true,
    comment: comment === null ? null : String(comment),
    labels: enumLabels(String(type)),
  }));
  const names = Map.groupBy(columns, ({ schema, table }) => tableKey({ schema, name: table }));
  const keys = (await ask(KEYS)).map(([schema, table, key, isPrimary, column]) => ({
    schema: String(schema),
    table: String(table),
    key: String(key),
    isPrimary: isPrimary === true,
    column: String(column),
  }));
  const indexes = (await ask(INDEXES)).flatMap(([schema, table, key, expressions]) => {
    const owner = { schema: String(schema), table: String(table), key: `index ${String(key)}`, isPrimary: false };
    const known = new Set(
      (names.get(tableKey({ schema: owner.schema, name: owner.table })) ?? []).map(({ name }) => name),
    );
    // DuckDB stores a list of expressions; only plain column names count as columns.
    const parts = String(expressions)
      .replace(/^\[|\]$/g, "")
      .split(", ")
      .map(unquote);
    return parts.every((part) => known.has(part)) ? parts.map((column) => ({ ...owner, column })) : [];
  });
  const foreignKeys = await ask(FOREIGN_KEYS);
  const checks = await ask(CHECKS);
  return assembleTables({
    relations: relations.map(([schema, name, isView, comment, rows]) => ({
      schema: String(schema),
      name: String(name),
      isView: isView === true,
      comment: comment === null ? null : String(comment),
      rows: rows === null ? null : Number(rows),
    })),
    columns,
    keys: [...keys, ...indexes],
    foreignKeys: foreignKeys.map(([schema, table, key, column, toTable, toColumn]) => ({
      schema: String(schema),
      table: String(table),
      key: String(key),
      column: String(column),
      // DuckDB has no foreign keys across schemas.
      toSchema: String(schema),
      toTable: String(toTable),
      toColumn: String(toColumn),
    })),
    checks: checks.map(([schema, table, sql]) => ({ schema: String(schema), table: String(table), sql: String(sql) })),
  });
}

const unquote = (text: string): string => {
  const inner = text.trim().replace(/^'(.*)'$/s, "$1");
  return /^".*"$/s.test(inner) ? inner.slice(1, -1).replaceAll('""', '"') : inner;
};

const RELATIONS = `
  select schema_name, table_name, false, comment, estimated_size from duckdb_tables()
  where database_name = current_database() and not internal and not temporary
  union all
  select schema_name, view_name, true, comment, null from duckdb_views()
  where database_name = current_database() and not internal and not temporary
  order by 1, 2`;

const COLUMNS = `
  select schema_name, table_name, column_name, data_type, is_nullable, comment from duckdb_columns()
  where database_name = current_database() and not internal
  order by schema_name, table_name, column_index`;

const KEYS = `
  select schema_name, table_name, constraint_index, constraint_type = 'PRIMARY KEY', unnest(constraint_column_names)
  from duckdb_constraints()
  where database_name = current_database() and constraint_type in ('PRIMARY KEY', 'UNIQUE')`;

const INDEXES = `
  select schema_name, table_name, index_name, expressions from duckdb_indexes()
  where database_name = current_database() and is_unique and not is_primary`;

const FOREIGN_KEYS = `
  select schema_name, table_name, constraint_index, unnest(constraint_column_names), referenced_table,
    unnest(referenced_column_names)
  from duckdb_constraints()
  where database_name = current_database() and constraint_type = 'FOREIGN KEY'`;

const CHECKS = `
  select schema_name, table_name, expression from duckdb_constraints()
  where database_name = current_database() and constraint_type = 'CHECK'
  order by schema_name, table_name, constraint_index`;
