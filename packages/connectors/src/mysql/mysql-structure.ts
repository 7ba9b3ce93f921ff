import { assembleTables, toCheck, toForeignKey } from "../assemble-tables.ts";
import { enumLabels } from "../enum-labels.ts";
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
  const checks = await readChecks(ask, read);
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
      labels: enumLabels(type!),
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
    foreignKeys: foreignKeys.map(toForeignKey),
    checks: checks.map(toCheck),
  });
}

/** MariaDB names the table of a check, MySQL does not, and versions of MySQL before 8.0.16 have no checks. */
async function readChecks(ask: Ask, read: (sql: string) => Promise<(string | null)[][]>): Promise<(string | null)[][]> {
  const columns = (await ask(CHECK_COLUMNS, [])).map(([name]) => name!.toLowerCase());
  if (columns.length === 0) return [];
  const checks = await read(columns.includes("table_name") ? MARIADB_CHECKS : MYSQL_CHECKS);
  // MariaDB adds one to each JSON column.
  return checks.filter(([, , sql]) => !/^json_valid\(`[^`]*`\)$/i.test(sql!));
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

const CHECK_COLUMNS = `
  select column_name from information_schema.columns
  where table_schema = 'information_schema' and upper(table_name) = 'CHECK_CONSTRAINTS'`;

const MARIADB_CHECKS = `
  select constraint_schema, table_name, check_clause from information_schema.check_constraints
  where constraint_schema SCHEMAS order by constraint_schema, table_name, constraint_name`;

const MYSQL_CHECKS = `
  select t.table_schema, t.table_name, c.check_clause
  from information_schema.table_constraints t
  join information_schema.check_constraints c
    on c.constraint_schema = t.constraint_schema and c.constraint_name = t.constraint_name
  where t.table_schema SCHEMAS and t.constraint_type = 'CHECK' and t.enforced = 'YES'
  order by t.table_schema, t.table_name, t.constraint_name`;
