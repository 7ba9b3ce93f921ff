import type { TableFacts } from "./table-facts.ts";
import { wordsOf } from "./words.ts";

/** Tables that have the columns of another and its name with something added: archives, backups, stages. */
export function copiesAmong(tables: readonly TableFacts[]): Map<TableFacts, TableFacts> {
  const bySignature = Map.groupBy(tables, (table) => table.columns[0]?.name.toLowerCase() ?? "");
  const copies = new Map<TableFacts, TableFacts>();
  for (const alike of bySignature.values()) {
    for (const table of alike) {
      const original = alike.find((other) => other !== table && isCopy(table, other));
      if (original) copies.set(table, original);
    }
  }
  return copies;
}

function isCopy(table: TableFacts, of: TableFacts): boolean {
  const shared = table.columns.filter(({ name }) => of.byName.has(name)).length;
  if (shared < 3 || shared < Math.max(table.columns.length, of.columns.length) * 0.75) return false;
  const [words, base] = [wordsOf(table.name.name), wordsOf(of.name.name)];
  return words.length > base.length && base.every((word) => words.includes(word));
}
