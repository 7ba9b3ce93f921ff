import type { TableFacts } from "./data/table-facts.ts";
import { wordsOf } from "./names/name-words.ts";

/** Copies of tables: the same columns and an extended name (archives, backups, staging). */
export function copiesAmong(tables: readonly TableFacts[]): Map<TableFacts, TableFacts> {
  const words = new Map(tables.map((table) => [table, wordsOf(table.name.name)]));
  const byFirst = Map.groupBy(tables, (table) => table.columns[0]?.name.toLowerCase() ?? "");
  const copies = new Map<TableFacts, TableFacts>();
  for (const alike of byFirst.values()) {
    const byWord = new Map<string, TableFacts[]>();
    for (const table of alike) {
      const first = words.get(table)![0] ?? "";
      byWord.set(first, [...(byWord.get(first) ?? []), table]);
    }
    for (const table of alike) {
      const own = words.get(table)!;
      // The copy's name contains all words of the original, including its first.
      const near = [...new Set(own)].flatMap((word) => byWord.get(word) ?? []);
      const original = near.find((other) => {
        const base = words.get(other)!;
        return own.length > base.length && base.every((word) => own.includes(word)) && hasColumnsOf(table, other);
      });
      if (original) copies.set(table, original);
    }
  }
  return copies;
}

function hasColumnsOf(table: TableFacts, of: TableFacts): boolean {
  const shared = table.columns.filter(({ name }) => of.byName.has(name)).length;
  return shared >= 3 && shared >= Math.max(table.columns.length, of.columns.length) * 0.75;
}
