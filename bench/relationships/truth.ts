import { DatabaseSync } from "node:sqlite";

export interface Link {
  from: { table: string; columns: readonly string[] };
  to: { table: string; columns: readonly string[] };
}

const end = ({ table, columns }: Link["from"]): string => `${table}(${columns.join(",")})`.toLowerCase();

/** Pairs of columns in an order of their own, so that (a, b) → (c, d) is (b, a) → (d, c). */
export function linkId({ from, to }: Link): string {
  const pairs = from.columns.map((column, i) => [column, to.columns[i] ?? ""] as const);
  const sorted = pairs.toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const ends = [
    { table: from.table, columns: sorted.map(([column]) => column) },
    { table: to.table, columns: sorted.map(([, column]) => column) },
  ];
  return ends.map(end).join(" → ");
}

export const reversed = ({ from, to }: Link): Link => ({ from: to, to: from });

interface ForeignKeyRow {
  id: number;
  table: string;
  from: string;
  to: string | null;
}

/** The foreign keys that a SQLite file declares. */
export function declaredLinks(file: string): Link[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  return tables.flatMap(({ name }) => {
    const table = String(name);
    const rows = database
      .prepare("SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq")
      .all(table) as unknown as ForeignKeyRow[];
    return [...Map.groupBy(rows, ({ id }) => id).values()].map((parts): Link => {
      const target = parts[0]!.table;
      const key = database.prepare("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").all(target);
      return {
        from: { table, columns: parts.map((part) => part.from) },
        to: { table: target, columns: parts.map((part, i) => part.to ?? String(key[i]?.["name"])) },
      };
    });
  });
}
