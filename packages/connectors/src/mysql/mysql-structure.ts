import { assembleTables } from "../assemble-tables.ts";
import type { Table } from "../connection.ts";

type Ask = (sql: string, values: unknown[]) => Promise<(string | null)[][]>;

/** `information_schema` shows only objects that the user has rights on. */
export async function readStructure(ask: Ask, schemas: readonly string[]): Promise<Table[]> {
  const which =
    schemas.length > 0
      ? { text: "in (?)", values: [schemas] }
      : { text: "not in ('mysql', 'information_schema', 'performance_schema', 'sys')", values: [] };
  const read = (sql: string): Promise<(string | null)[][]> => ask(sql.replace("SCHEMAS", which.text), which.values);
  const relations = await read(RELATIONS);
  const columns = await read(COLUMNS);
  const keys = await read(KEYS);
  const foreignKeys = await read(FOREIGN_KEYS);
  return assembleTables({
    relations: relations.map(([schema, name, type, comment, rows]) => ({
      schema: schema!,
      name: name!,
      isView: type!.includes("VIEW"),
      // For views, the server returns "VIEW" here.
      comment: type!.includes("VIEW") ? null : comment!,
      rows: rows === null || type!.includes("VIEW") ? null : Number(rows),
    })),
    columns: columns.map(([schema, table, name, type, nullable, comment]) => ({
      schema: schema!,
      table: table!,
      name: name!,
      type: type!,
      nullable: nullable === "YES",
      comment: comment!,
    })),
    keys: [...Map.groupBy(keys, (row) => JSON.stringify(row.slice(0, 3))).values()]
      // Skips keys on expressions or column prefixes.
      .filter((parts) => parts.every(([, , , column, prefix]) => column !== null && prefix === null))
      .flat()
      .map(([schema, table, key, column]) => ({
        schema: schema!,
        table: table!,
        key: key!,
        isPrimary: key === "PRIMARY",
        column: column!,
      })),
    foreignKeys: foreignKeys.map(([schema, table, key, column, toSchema, toTable, toColumn]) => ({
      schema: schema!,
      table: table!,
      key: key!,
      column: column!,
      toSchema: toSchema!,
      toTable: toTable!,
      toColumn: toColumn!,
    })),
  });
}

const RELATIONS = `
  select table_schema, table_name, table_type, table_comment, table_rows from information_schema.tables
  where table_schema SCHEMAS and table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  order by table_schema, table_name`;

const COLUMNS = `
  select table_schema, table_name, column_name, column_type, is_nullable, column_comment
  from information_schema.columns where table_schema SCHEMAS
  order by table_schema, table_name, ordinal_position`;

const KEYS = `
  select table_schema, table_name, index_name, column_name, sub_part from information_schema.statistics
  where table_schema SCHEMAS and non_unique = 0
  order by table_schema, table_name, index_name, seq_in_index`;

const FOREIGN_KEYS = `
  select table_schema, table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name,
    referenced_column_name
  from information_schema.key_column_usage
  where table_schema SCHEMAS and referenced_table_name is not null
  order by table_schema, table_name, constraint_name, ordinal_position`;
