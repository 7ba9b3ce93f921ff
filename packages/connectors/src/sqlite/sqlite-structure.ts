import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { columnKind } from "../column-kind.ts";
import type { Column, ForeignKey, SkippedTable, Table } from "../connection.ts";
import { checksIn } from "./sqlite-checks.ts";
import type { Structure } from "../reader/reader.ts";

const SCHEMA = "main";
type Row = Record<string, SQLOutputValue>;
type Ask = (sql: string, ...values: SQLInputValue[]) => Row[];

interface FoundTable extends Table {
  foreignKeys: ForeignKey[];
}

/** A few pragmas per table: without a server in between, a thousand tables take a fraction of a second. */
export function readStructure(ask: Ask): Structure {
  const estimates = readEstimates(ask);
  const skipped: SkippedTable[] = [];
  const skip = (name: string, reason: string) => skipped.push({ schema: SCHEMA, name, reason });
  const tables = ask(
    `select name, type from pragma_table_list
     where schema = ? and type <> 'shadow' and name not like 'sqlite\\_%' escape '\\' order by name`,
    SCHEMA,
  ).flatMap(({ name, type }) => readTable(ask, { name: String(name), type: String(type) }, estimates, skip));
  const byName = new Map(tables.map((table) => [fold(table.name), table]));
  for (const table of tables) table.foreignKeys.push(...readForeignKeys(ask, table, byName));
  return { tables, skipped };
}

function readTable(
  ask: Ask,
  { name, type }: { name: string; type: string },
  estimates: Map<string, number>,
  skip: (name: string, reason: string) => void,
): FoundTable[] {
  const isView = type === "view";
  let info: Row[];
  try {
    info = ask("select * from pragma_table_xinfo(?) where hidden <> 1 order by cid", name);
  } catch (error) {
    // A view of a dropped table, or a virtual table of an unavailable module; it cannot be read.
    const what = type === "virtual" ? "virtual table" : type;
    skip(name, `The ${what} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
    return [];
  }
  if (info.length === 0) {
    skip(name, "It has no columns that can be read.");
    return [];
  }
  const primaryKey = info.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a["pk"]) - Number(b["pk"]));
  const rowid =
    primaryKey.length === 1 && /^integer$/i.test(String(primaryKey[0]!["type"])) ? primaryKey[0] : undefined;
  const columns = info.map((column): Column => {
    const type = String(column["type"]);
    const nullable = column["notnull"] === 0 && column !== rowid;
    return { name: String(column["name"]), type, kind: columnKind(type), nullable };
  });
  const checks = type === "table" ? readChecks(ask, name) : [];
  return [
    {
      schema: SCHEMA,
      name,
      type: isView ? "view" : "table",
      columns,
      primaryKey: primaryKey.map((column) => String(column["name"])),
      uniqueKeys: isView ? [] : readUniqueKeys(ask, name),
      foreignKeys: [],
      ...(checks.length > 0 && { checks }),
      ...(estimates.has(name) && { estimatedRows: estimates.get(name) }),
    },
  ];
}

function readUniqueKeys(ask: Ask, table: string): string[][] {
  return ask(`select name from pragma_index_list(?) where "unique" = 1 and partial = 0 and origin <> 'pk'`, table)
    .map(({ name }) => ask("select cid, name from pragma_index_xinfo(?) where key = 1 order by seqno", name!))
    .filter((columns) => columns.every(({ cid }) => Number(cid) >= 0))
    .map((columns) => columns.map(({ name }) => String(name)))
    .toReversed();
}

function readChecks(ask: Ask, table: string): string[] {
  const [row] = ask("select sql from sqlite_schema where type = 'table' and name = ? and sql like '%check%'", table);
  return row ? checksIn(String(row["sql"])) : [];
}

/** In declaration order, which SQLite lists reversed. Dangling references are skipped. */
function readForeignKeys(ask: Ask, table: Table, byName: Map<string, Table>): ForeignKey[] {
  if (table.type === "view") return [];
  const rows = ask(
    'select id, "table", "from", "to" from pragma_foreign_key_list(?) order by id desc, seq',
    table.name,
  );
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((parts) => {
    const target = byName.get(fold(String(parts[0]!["table"])));
    if (!target) return [];
    const columns = parts.map((part) => spelled(table, String(part["from"])));
    // Without columns, it references the primary key.
    const toColumns = parts.map(({ to }, index) =>
      to === null ? target.primaryKey[index] : spelled(target, String(to)),
    );
    if (![...columns, ...toColumns].every((name) => name !== undefined)) return [];
    const to = { schema: target.schema, name: target.name };
    return [{ columns: columns as string[], to, toColumns: toColumns as string[] }];
  });
}

/** Statistics of the last `analyze`, if any. */
function readEstimates(ask: Ask): Map<string, number> {
  if (ask("select 1 from sqlite_schema where name = 'sqlite_stat1'").length === 0) return new Map();
  const rows = ask("select tbl, max(cast(stat as integer)) as rows from sqlite_stat1 group by tbl");
  return new Map(rows.map(({ tbl, rows }) => [String(tbl), Number(rows)]));
}

const spelled = (table: Table, name: string): string | undefined =>
  table.columns.find((column) => fold(column.name) === fold(name))?.name;

/** SQLite compares names case-insensitively for ASCII letters only. */
const fold = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
