import type { ColumnKind, Dialect } from "@tandem/connectors";
import type { CataloguedTable } from "../../model/catalogued-table.ts";
import { type MetricsFile, metricsFile } from "../../model/metrics-file.ts";
import { type Gold, goldOf } from "./gold.ts";

export type Cell = string | number | boolean | null;
type ColumnType =
  | "epoch"
  | "int"
  | "big"
  | "dec"
  | "real"
  | "text"
  | "word"
  | "bool"
  | "date"
  | "time"
  | "zoned"
  | "moment";

export interface ScenarioTable {
  /** `id int, at time` */
  readonly columns: string;
  readonly key: readonly string[];
  readonly otherKeys?: readonly (readonly string[])[];
  /** `customer_id → customers`, `a, b → t (x, y)`, or `id → posts when kind = post` */
  readonly joins?: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Scenario = {
  readonly title: string;
  readonly query: object;
} & (
  | { readonly sql: string | ((gold: Gold) => string) }
  | { readonly rows: readonly (readonly Cell[])[] }
  /** The query has no safe answer; this is the code of the refusal. */
  | { readonly refused: string }
);

/** The filters of a query on one range of a time. */
export const between = (from: string, until: string, field = "time"): object[] => [{ field, from, until }];

/** A small database with definitions, and queries with the SQL that a person would write for them. */
export interface World {
  readonly name: string;
  readonly tables: Readonly<Record<string, ScenarioTable>>;
  readonly files: readonly object[];
  readonly scenarios: readonly Scenario[];
}

export const NOW = new Date("2026-03-15T12:00:00Z");

type SqlType = { kind: ColumnKind; sqliteKind?: ColumnKind } & Record<Dialect, string>;

const TIME: SqlType = {
  kind: "time",
  sqlite: "DATETIME",
  duckdb: "TIMESTAMP",
  postgres: "timestamp without time zone",
  mysql: "datetime",
};

const TYPES: Record<ColumnType, SqlType> = {
  epoch: TIME,
  int: { kind: "integer", sqlite: "INTEGER", duckdb: "INTEGER", postgres: "integer", mysql: "int" },
  big: { kind: "integer", sqlite: "INTEGER", duckdb: "BIGINT", postgres: "bigint", mysql: "bigint" },
  dec: {
    kind: "decimal",
    sqlite: "DECIMAL(14,2)",
    duckdb: "DECIMAL(14,2)",
    postgres: "numeric(14,2)",
    mysql: "decimal(14,2)",
  },
  real: { kind: "decimal", sqlite: "REAL", duckdb: "DOUBLE", postgres: "double precision", mysql: "double" },
  text: { kind: "text", sqlite: "TEXT", duckdb: "VARCHAR", postgres: "text", mysql: "varchar(60) COLLATE utf8mb4_bin" },
  /** With the collation of the database, which may ignore case. */
  word: { kind: "text", sqlite: "TEXT", duckdb: "VARCHAR", postgres: "text", mysql: "varchar(20)" },
  bool: { kind: "boolean", sqlite: "BOOLEAN", duckdb: "BOOLEAN", postgres: "boolean", mysql: "tinyint(1)" },
  date: { kind: "date", sqlite: "DATE", duckdb: "DATE", postgres: "date", mysql: "date" },
  time: TIME,
  zoned: {
    kind: "time",
    sqlite: "TIMESTAMP",
    duckdb: "TIMESTAMP WITH TIME ZONE",
    postgres: "timestamp with time zone",
    mysql: "datetime",
  },
  /** Of each database another type. */
  moment: {
    kind: "time",
    sqliteKind: "text",
    sqlite: "TEXT",
    duckdb: "TIMESTAMP",
    postgres: "timestamp with time zone",
    mysql: "datetime",
  },
};

const columnsOf = ({ columns }: ScenarioTable) =>
  columns.split(",").map((text) => {
    const [name, type] = text.trim().split(" ") as [string, ColumnType];
    return { name, type };
  });

type Prepared = Pick<World, "tables" | "files">;

/** Statements that create the world in a schema, its catalogue and its definitions. */
export function prepare(
  world: Prepared,
  dialect: Dialect,
  schema: string,
): { setup: string[]; tables: CataloguedTable[]; files: MetricsFile[] } {
  const entries = Object.entries(world.tables);
  return {
    setup: entries.flatMap(([name, table]) => setupOf(name, table, dialect, schema)),
    tables: entries.map(([name, table]) => ({
      schema,
      name,
      columns: columnsOf(table).map((column) => ({
        name: column.name,
        type: TYPES[column.type][dialect],
        kind: (dialect === "sqlite" && TYPES[column.type].sqliteKind) || TYPES[column.type].kind,
      })),
      keys: [table.key, ...(table.otherKeys ?? [])],
      joins: (table.joins ?? []).map((text) => joinOf(text, schema, world)),
    })),
    files: world.files.map((file) => {
      const parsed = metricsFile.parse(file);
      return { ...parsed, table: `${schema}.${parsed.table}` };
    }),
  };
}

function joinOf(text: string, schema: string, { tables }: Prepared): CataloguedTable["joins"][number] {
  const match = /^(.+) → (\w+)(?: \((.+)\))?(?: when (\w+) = (\w+))?$/.exec(text)!;
  const list = (names: string): string[] => names.split(",").map((name) => name.trim());
  return {
    columns: list(match[1]!),
    to: { schema, name: match[2]! },
    toColumns: match[3] === undefined ? tables[match[2]!]!.key : list(match[3]),
    ...(match[4] !== undefined && { when: { column: match[4], equals: match[5]! } }),
  };
}

function setupOf(name: string, table: ScenarioTable, dialect: Dialect, schema: string): string[] {
  const columns = columnsOf(table);
  const literal = (cell: Cell, type: ColumnType): string => {
    if (cell === null) return "NULL";
    if (typeof cell === "boolean") return dialect === "sqlite" ? String(Number(cell)) : String(cell);
    // SQLite stores some times as seconds or milliseconds since 1970.
    if (type === "epoch" && typeof cell === "number") {
      const seconds = Math.abs(cell) < 100_000_000_000 ? cell : cell / 1_000;
      return dialect === "sqlite"
        ? String(cell)
        : `'${new Date(seconds * 1_000).toISOString().slice(0, 19).replace("T", " ")}'`;
    }
    if (typeof cell === "number") return String(cell);
    const escaped = (dialect === "mysql" ? cell.replaceAll("\\", "\\\\") : cell).replaceAll("'", "''");
    return / with time zone/i.test(TYPES[type][dialect]) ? `'${escaped}+00'` : `'${escaped}'`;
  };
  const rows = table.rows.map((row) => `(${row.map((cell, at) => literal(cell, columns[at]!.type)).join(", ")})`);
  const quoted = (column: string): string => (dialect === "mysql" ? `\`${column}\`` : `"${column}"`);
  const definitions = columns.map((column) => `${quoted(column.name)} ${TYPES[column.type][dialect]}`);
  return [
    `CREATE TABLE ${schema}.${name} (${definitions.join(", ")})`,
    ...(rows.length > 0 ? [`INSERT INTO ${schema}.${name} VALUES ${rows.join(", ")}`] : []),
  ];
}

/** The rows that a scenario expects: its own, or SQL to run. */
export function expected(scenario: Scenario, dialect: Dialect, schema: string): { sql: string } | { rows: Cell[][] } {
  if ("rows" in scenario) return { rows: scenario.rows.map((row) => [...row]) };
  if ("refused" in scenario) return { rows: [] };
  const text = typeof scenario.sql === "string" ? scenario.sql : scenario.sql(goldOf(dialect));
  return { sql: text.replaceAll("@", `${schema}.`) };
}
