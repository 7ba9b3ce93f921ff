import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export interface Stripping {
  /** Primary and unique keys stay; foreign keys never do. */
  keys: boolean;
  views: boolean;
}

const quote = (name: unknown): string => `"${String(name).replaceAll('"', '""')}"`;

/** A copy of a SQLite file without its foreign keys. */
export function strip(file: string, copy: string, { keys, views }: Stripping): void {
  rmSync(copy, { force: true });
  using database = new DatabaseSync(copy, { enableForeignKeyConstraints: false });
  database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
  database.prepare("ATTACH ? AS source").run(file);
  database.exec("BEGIN");
  const things = database
    .prepare(
      "SELECT type, name, sql FROM source.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  for (const { name } of things.filter(({ type }) => type === "table")) {
    const columns = database.prepare("SELECT * FROM pragma_table_info(?, 'source')").all(name!);
    const parts = columns.map((column) => `${quote(column["name"])} ${String(column["type"])}`);
    if (keys) parts.push(...keyClauses(database, String(name), columns));
    database.exec(`CREATE TABLE main.${quote(name)} (${parts.join(", ")})`);
    database.exec(`INSERT INTO main.${quote(name)} SELECT * FROM source.${quote(name)}`);
  }
  database.exec("COMMIT; DETACH source");
  if (views) for (const { sql } of things.filter(({ type }) => type === "view")) database.exec(String(sql));
}

type Row = Record<string, unknown>;

function keyClauses(database: DatabaseSync, table: string, columns: readonly Row[]): string[] {
  const primary = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a["pk"]) - Number(b["pk"]));
  const clauses = primary.length > 0 ? [`PRIMARY KEY (${primary.map(({ name }) => quote(name)).join(", ")})`] : [];
  const indexes = database
    .prepare(`SELECT name FROM pragma_index_list(?, 'source') WHERE "unique" AND origin = 'u'`)
    .all(table);
  for (const { name } of indexes) {
    const names = database.prepare("SELECT name FROM pragma_index_info(?, 'source') ORDER BY seqno").all(name!);
    clauses.push(`UNIQUE (${names.map((column) => quote(column["name"])).join(", ")})`);
  }
  return clauses;
}
