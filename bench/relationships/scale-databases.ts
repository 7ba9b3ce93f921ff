import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { makeDatabase } from "../scan/make-database.ts";
import { seededRandom } from "./schemas/schema.ts";
import type { Link } from "./truth.ts";

export interface ScaleCase {
  name: string;
  about: string;
  /** Undefined if the schema has no truth worth a score. */
  write: (file: string) => readonly Link[] | undefined;
}

const NOUNS = ["order", "invoice", "payment", "customer", "product", "shipment", "ticket", "contract", "site", "asset"];
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

type Row = Record<string, string>;
interface Made {
  table: string;
  rows: Row[];
}

export const scaleCases: readonly ScaleCase[] = [
  {
    name: "text-400",
    about: "400 tables of 50 text columns and 3 rows; each refers to three others by name and value",
    write: (file) => textTables(file, { tables: 400, columns: 50, rows: 3, references: 3 }),
  },
  {
    name: "random-400",
    about: "400 tables of 50 columns of random text and 3 rows; the same column names in each, no reference",
    write: (file) => textTables(file, { tables: 400, columns: 50, rows: 3, references: 0 }),
  },
  {
    name: "random-20",
    about: "20 tables of 50 columns of random text and 3 rows; no reference",
    write: (file) => textTables(file, { tables: 20, columns: 50, rows: 3, references: 0 }),
  },
  {
    name: "text-30",
    about: "30 tables of 50 text columns (1,500 in all) and 200 rows; each refers to three others",
    write: (file) => textTables(file, { tables: 30, columns: 50, rows: 200, references: 3 }),
  },
  {
    name: "wide-1500",
    about: "one table of 1,500 columns and 300 rows, and 20 tables that it refers to",
    write: wideTable,
  },
  {
    name: "tables-1000",
    about: "1,000 tables of 11 columns and 120 rows",
    write: (file) => {
      makeDatabase(file, 1_000);
      return undefined;
    },
  },
];

interface TextTables {
  tables: number;
  columns: number;
  rows: number;
  references: number;
}

/** Every column is text. Column names repeat from table to table, as `attr_7` and `note_3` do in exports. */
function textTables(file: string, { tables, columns, rows, references }: TextTables): Link[] {
  const random = seededRandom(tables * 1_000 + columns);
  const text = () => Array.from({ length: 10 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join("");
  const made: Made[] = [];
  const links: Link[] = [];
  for (let at = 0; at < tables; at++) {
    const entity = `${NOUNS[at % NOUNS.length]}_${at}`;
    const targets = new Set<Made>();
    for (let i = 0; i < references && i < made.length; i++) {
      targets.add(made[Math.floor(random() * made.length)]!);
    }
    const referring = new Map([...targets].map((target) => [`${target.table}_code`, target]));
    const rest = Array.from({ length: columns - 1 - referring.size }, (_, i) =>
      references === 0 ? `c${i + 1}` : `${i % 2 === 0 ? "attr" : "note"}_${i + 1}`,
    );
    const table: Made = {
      table: entity,
      rows: Array.from({ length: rows }, () => {
        const row: Row = { code: text() };
        for (const [name, target] of referring) row[name] = target.rows[Math.floor(random() * rows)]!["code"]!;
        for (const name of rest) row[name] = text();
        return row;
      }),
    };
    made.push(table);
    for (const [name, target] of referring) {
      links.push({ from: { table: entity, columns: [name] }, to: { table: target.table, columns: ["code"] } });
    }
  }
  save(file, made, "TEXT");
  return links;
}

/** A wide export: codes of 20 lookups, other text, numbers and flags. */
function wideTable(file: string): Link[] {
  const random = seededRandom(1_500);
  const lookups = Array.from({ length: 20 }, (_, at): Made => ({
    table: `lookup_${NOUNS[at % NOUNS.length]}_${at}`,
    rows: Array.from({ length: 40 }, (_row, i) => ({
      code: `${NOUNS[at % 10]!.slice(0, 3)}${at}-${1_000 + i * 7}`,
      label: `Label ${i}`,
    })),
  }));
  const links: Link[] = [];
  const names = Array.from({ length: 1_500 }, (_, i) => {
    const lookup = i % 25 === 0 ? lookups[(i / 25) % 20]! : undefined;
    const name = lookup ? `${lookup.table.replace("lookup_", "")}_code_${i}` : `field_${i}`;
    if (lookup)
      links.push({ from: { table: "export", columns: [name] }, to: { table: lookup.table, columns: ["code"] } });
    return { name, lookup, kind: i % 4 };
  });
  const rows = Array.from({ length: 300 }, (_, at) =>
    Object.fromEntries(
      names.map(({ name, lookup, kind }) => {
        if (lookup) return [name, lookup.rows[Math.floor(random() * 40)]!["code"]!];
        const value =
          kind === 0
            ? `${at}`
            : kind === 1
              ? `${Math.floor(random() * 900)}`
              : kind === 2
                ? `v${Math.floor(random() * 1e9)}`
                : `${Math.floor(random() * 2)}`;
        return [name, value];
      }),
    ),
  );
  save(file, [...lookups, { table: "export", rows }], "TEXT");
  return links;
}

function save(file: string, tables: readonly Made[], type: string): void {
  rmSync(file, { force: true });
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  for (const { table, rows } of tables) {
    const names = Object.keys(rows[0]!);
    database.exec(`CREATE TABLE "${table}" (${names.map((name) => `"${name}" ${type}`).join(", ")})`);
    const insert = database.prepare(`INSERT INTO "${table}" VALUES (${names.map(() => "?").join(", ")})`);
    for (const row of rows) insert.run(...names.map((name) => row[name]!));
  }
  database.exec("COMMIT");
  database.close();
}
