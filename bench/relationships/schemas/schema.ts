import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Cell, ColumnSpec } from "./column.ts";

export interface TableSpec {
  rows: number;
  columns: Readonly<Record<string, ColumnSpec>>;
  /** The first column where nothing is said; an empty list for none. */
  key?: readonly string[];
  unique?: readonly (readonly string[])[];
  /** Foreign keys of several columns; those of one column are in the columns. */
  composite?: readonly { columns: readonly string[]; to: string; toColumns: readonly string[] }[];
}

/** A true link that a database cannot declare. */
export interface UndeclarableLink {
  from: string;
  column: string;
  to: string;
  toColumn: string;
}

export interface Schema {
  name: string;
  about: string;
  tables: Readonly<Record<string, TableSpec>>;
  views?: Readonly<Record<string, string>>;
  undeclarable?: readonly UndeclarableLink[];
}

/** The same numbers in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const list = (names: readonly string[]): string => names.map(quote).join(", ");

/** Writes the schema with its keys, foreign keys and data into a new SQLite file. */
export function writeSchema(schema: Schema, file: string): void {
  rmSync(file, { force: true });
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  const made = new Map<string, Record<string, Cell>[]>();
  const random = seededRandom(Array.from(schema.name).reduce((sum, letter) => sum * 31 + letter.codePointAt(0)!, 7));
  for (const [name, spec] of Object.entries(schema.tables)) {
    database.exec(createTable(name, spec));
    const columns = Object.keys(spec.columns);
    const insert = database.prepare(`INSERT INTO ${quote(name)} VALUES (${columns.map(() => "?").join(", ")})`);
    for (const line of makeRows(name, spec, made, random)) insert.run(...columns.map((column) => line[column]!));
  }
  for (const [name, select] of Object.entries(schema.views ?? {})) {
    database.exec(`CREATE VIEW ${quote(name)} AS ${select}`);
  }
  database.exec("COMMIT");
  database.close();
}

const keyOf = (spec: TableSpec): readonly string[] => spec.key ?? Object.keys(spec.columns).slice(0, 1);

function createTable(name: string, spec: TableSpec): string {
  const key = keyOf(spec);
  const parts = Object.entries(spec.columns).map(([column, { type }]) => `${quote(column)} ${type}`);
  if (key.length > 0) parts.push(`PRIMARY KEY (${list(key)})`);
  for (const unique of spec.unique ?? []) parts.push(`UNIQUE (${list(unique)})`);
  for (const [column, { ref }] of Object.entries(spec.columns)) {
    const [table = "", target = ""] = ref?.split(".") ?? [];
    if (ref) parts.push(`FOREIGN KEY (${quote(column)}) REFERENCES ${quote(table)} (${quote(target)})`);
  }
  for (const { columns, to, toColumns } of spec.composite ?? []) {
    parts.push(`FOREIGN KEY (${list(columns)}) REFERENCES ${quote(to)} (${list(toColumns)})`);
  }
  return `CREATE TABLE ${quote(name)} (${parts.join(", ")})`;
}

function makeRows(
  name: string,
  spec: TableSpec,
  made: Map<string, Record<string, Cell>[]>,
  random: () => number,
): readonly Record<string, Cell>[] {
  const rows: Record<string, Cell>[] = [];
  made.set(name, rows);
  const keys = [keyOf(spec), ...(spec.unique ?? [])].filter((key) => key.length > 0);
  const seen = keys.map(() => new Set<string>());
  // A row whose key is taken is made again, and left out where that does not help.
  for (let row = 0; row < spec.rows; row++) {
    for (let attempt = 0; attempt < 8; attempt++) {
      const line = makeRow(spec, row, made, random);
      const idents = keys.map((key) => JSON.stringify(key.map((column) => line[column])));
      if (idents.some((ident, i) => seen[i]!.has(ident))) continue;
      idents.forEach((ident, i) => seen[i]!.add(ident));
      rows.push(line);
      break;
    }
  }
  return rows;
}

function makeRow(
  spec: TableSpec,
  row: number,
  made: ReadonlyMap<string, readonly Record<string, Cell>[]>,
  random: () => number,
): Record<string, Cell> {
  const line: Record<string, Cell> = {};
  const slots = new Map<string, Record<string, Cell> | undefined>();
  const rowsOf = (table: string) => made.get(table) ?? [];
  const picked = (table: string, slot: string) => {
    if (!slots.has(slot)) slots.set(slot, rowsOf(table)[Math.floor(random() * rowsOf(table).length)]);
    return slots.get(slot);
  };
  for (const [column, { make }] of Object.entries(spec.columns))
    line[column] = make({ row, random, line, rowsOf, picked });
  return line;
}
