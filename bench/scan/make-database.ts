import { DatabaseSync } from "node:sqlite";

export const COLUMNS = 11;
export const ROWS = 120;
const NOUNS = ["order", "invoice", "payment", "customer", "product", "shipment", "ticket", "contract", "site", "asset"];
const STATES = ["new", "open", "paid", "closed"];

/** So many of a table's rows are referred to. */
const REFERRED = 90;

export const tableName = (number: number): string => `${NOUNS[number % NOUNS.length]!}_${number}`;

/** Tables of eleven columns, of which each but the first has three references to earlier ones; no foreign key is declared. */
export function makeDatabase(path: string, tables: number): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  for (let number = 0; number < tables; number += 1) {
    const [first, second, third] = targetsOf(number);
    database.exec(
      `CREATE TABLE ${tableName(number)} (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, ${first}_id INTEGER, ` +
        `${second}_id INTEGER, ${third}_ref INTEGER, name TEXT, status TEXT, amount REAL, quantity INTEGER, ` +
        `created_at TEXT, note TEXT)`,
    );
    for (let row = 1; row <= ROWS; row += 1) insert(database, number, row);
  }
  database.exec("COMMIT");
  database.close();
}

/** One more row in every table. */
export const addRows = (path: string, tables: number): void =>
  change(path, tables, (database, number) => insert(database, number, ROWS + 1));

/** One more column in every table. */
export const addColumns = (path: string, tables: number): void =>
  change(path, tables, (database, number) =>
    database.exec(`ALTER TABLE ${tableName(number)} ADD COLUMN checked_by TEXT`),
  );

function change(path: string, tables: number, work: (database: DatabaseSync, number: number) => void): void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN");
  for (let number = 0; number < tables; number += 1) work(database, number);
  database.exec("COMMIT");
  database.close();
}

/** The tables that one refers to: their names differ, or columns would. */
function targetsOf(number: number): [string, string, string] {
  const at = (distance: number): string => tableName(Math.max(0, number - distance));
  const names = [at(1), at(7), at(23)];
  return names.map((name, index) => (names.indexOf(name) === index ? name : `${name}_${index}`)) as [
    string,
    string,
    string,
  ];
}

function insert(database: DatabaseSync, number: number, row: number): void {
  const day = new Date(Date.UTC(2_024, 0, 1 + ((row * 3 + number) % 700))).toISOString().slice(0, 10);
  database
    .prepare(`INSERT INTO ${tableName(number)} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(
      row,
      `${number}-${row}`,
      ...[7, 11, 13].map((step) => 1 + ((row * step) % REFERRED)),
      `Name ${row}`,
      STATES[row % STATES.length]!,
      ((row * 37) % 1_000) / 10,
      row % 9,
      day,
      null,
    );
}
