import type { TableFile } from "./table-file.ts";
import { type FieldLines, tableLines } from "./table-lines.ts";

/**
 * The parts of a table's file that belong to a person: by their field, or because people wrote their lines last
 * (`hand`).
 */
export class OwnedText {
  readonly #fields: readonly FieldLines[];
  readonly #current: TableFile | undefined;

  constructor(existing: string | null, current: TableFile | undefined, hand: ReadonlySet<number>) {
    const fields = existing === null || hand.size === 0 ? [] : tableLines(existing);
    this.#fields = fields.filter(({ from, to }) => {
      for (let line = from; line <= to; line += 1) if (hand.has(line)) return true;
      return false;
    });
    this.#current = current;
  }

  /** Whether a person has described the table or column: under `human`, or by editing the model's text. */
  hasWords(column?: string): boolean {
    const entry = column === undefined ? this.#current : this.#current?.columns.find(({ name }) => name === column);
    const isEdited = this.#fields.some((field) => field.isAi && field.column === column);
    return isEdited || Boolean(entry?.descriptions?.human?.trim());
  }

  /** Whether a column's entry has text that only a person can have written. */
  isInColumn(column: string): boolean {
    return this.hasWords(column) || this.#fields.some((field) => field.column === column && field.aspect === "own");
  }

  isJoin(key: string): boolean {
    return this.#fields.some((field) => field.join === key);
  }

  isAnywhere(): boolean {
    const { columns = [], joins = [], notes } = this.#current ?? {};
    return (
      this.hasWords() ||
      Boolean(notes?.trim()) ||
      this.#fields.some(({ aspect, isAi, join }) => aspect === "own" || isAi || join !== undefined) ||
      columns.some(({ name }) => this.isInColumn(name)) ||
      joins.some(({ origin }) => origin === "human")
    );
  }
}
