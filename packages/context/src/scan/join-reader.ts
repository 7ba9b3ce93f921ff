import type { JoinEnd, Relationship, Suggestion } from "@tandem/relationships";
import { cut } from "./as-data.ts";
import type { JoinAnswer } from "./join-prompt.ts";
import { type ScannedTable, tableKey } from "../privacy/scanned-table.ts";

const LEAST_CONFIDENCE = 0.55;
const MAX_REASON = 200;

/** Filters a model's answers: both ends exist, the confidence suffices, and it is not a duplicate. */
export class JoinReader {
  readonly suggestions: Suggestion[] = [];
  /** Number of suggestions with unknown tables or columns. */
  unknown = 0;
  readonly #columns: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #seen: Set<string>;

  constructor(tables: readonly ScannedTable[], found: readonly Relationship[]) {
    this.#columns = new Map(
      tables.map(({ table }) => [tableKey(table), new Set(table.columns.map(({ name }) => name))]),
    );
    // Joins rejected or under review for lack of a reason may be suggested: the suggestion is a reason.
    this.#seen = new Set(found.filter(({ status }) => status === "accepted").map(identityOf));
  }

  read({ joins }: JoinAnswer): void {
    for (const { from, to, confidence, why } of joins) {
      const suggestion = { from: toEnd(from), to: toEnd(to), why: cut(why.replaceAll(/\s+/gu, " "), MAX_REASON) };
      const isKnown =
        this.#has(suggestion.from) && this.#has(suggestion.to) && from.columns.length === to.columns.length;
      if (!isKnown) this.unknown += 1;
      const identity = identityOf(suggestion);
      const isItself = JSON.stringify(suggestion.from) === JSON.stringify(suggestion.to);
      if (!isKnown || isItself || !(confidence >= LEAST_CONFIDENCE) || this.#seen.has(identity)) continue;
      this.#seen.add(identity);
      this.suggestions.push(suggestion);
    }
  }

  #has({ table, columns }: JoinEnd): boolean {
    const names = this.#columns.get(tableKey(table));
    return columns.length > 0 && columns.every((name) => names?.has(name));
  }
}

const toEnd = ({ schema, table, columns }: JoinAnswer["joins"][number]["from"]): JoinEnd => ({
  table: { schema, name: table },
  columns,
});

const identityOf = ({ from, to }: Pick<Relationship, "from" | "to">): string =>
  JSON.stringify([tableKey(from.table), from.columns, tableKey(to.table), to.columns]);
