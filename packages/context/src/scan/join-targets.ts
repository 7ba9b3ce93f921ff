import { asData } from "./as-data.ts";
import type { Question } from "./join-prompt.ts";
import { type ScannedTable, tableKey } from "../privacy/scanned-table.ts";

const KEYS_PER_TABLE = 4;

interface Entry {
  line: string;
  key: string;
  words: ReadonlySet<string>;
  /** Number of known references to it. */
  references: number;
}

/**
 * Referenceable keys, one line per table. If the index exceeds a prompt, each prompt gets the best part: tables that
 * share words with the question, and often referenced ones. So prompts do not grow with the catalogue.
 */
export class JoinTargets {
  readonly #entries: readonly Entry[];
  readonly #longest: number;
  /** Number of tables per word: a common word carries no information. */
  readonly #spread = new Map<string, number>();

  constructor(tables: readonly ScannedTable[], references: ReadonlyMap<string, number>, longest: number) {
    this.#longest = longest;
    this.#entries = tables.flatMap((scanned) => {
      const { schema, name } = scanned.table;
      const keys = keysOf(scanned);
      if (keys.length === 0) return [];
      const key = tableKey(scanned.table);
      return [
        {
          line: asData({ schema, table: name, keys }),
          key,
          words: wordsOf(name, ...keys.flat()),
          references: references.get(key) ?? 0,
        },
      ];
    });
    for (const { words } of this.#entries) {
      for (const word of words) this.#spread.set(word, (this.#spread.get(word) ?? 0) + 1);
    }
  }

  linesFor(questions: readonly Question[]): string[] {
    const whole = this.#entries.reduce((sum, { line }) => sum + line.length + 1, 0);
    if (whole <= this.#longest) return this.#entries.map(({ line }) => line);
    const own = new Set(questions.map(({ scanned }) => tableKey(scanned.table)));
    const words = wordsOf(
      ...questions.flatMap(({ scanned, columns }) => [scanned.table.name, ...columns.map(({ name }) => name)]),
    );
    const scored = this.#entries.map((entry) => ({ entry, score: this.#score(entry, words, own) }));
    // Stable sort, so that an unchanged catalogue gives the same prompt.
    scored.sort((a, b) => b.score - a.score);
    let room = this.#longest;
    return scored.flatMap(({ entry: { line } }) => {
      room -= line.length + 1;
      return room < 0 ? [] : [line];
    });
  }

  #score({ words, references, key }: Entry, wanted: ReadonlySet<string>, own: ReadonlySet<string>): number {
    let score = Math.log2(1 + references) + (own.has(key) ? 2 : 0);
    for (const word of words) {
      if (wanted.has(word)) score += Math.log2(this.#entries.length / (this.#spread.get(word) ?? 1));
    }
    return score;
  }
}

/** Declared keys first, then columns with unique sampled values. */
function keysOf({ table, profile }: ScannedTable): string[][] {
  const declared = [table.primaryKey, ...table.uniqueKeys].filter((key) => key.length > 0).map((key) => [...key]);
  const single = new Set(declared.filter((key) => key.length === 1).map(([name]) => name));
  const measured = (profile?.columns ?? [])
    .filter(({ name, unique, nulls, distinct }) => unique && nulls === 0 && distinct > 1 && !single.has(name))
    .map(({ name }) => [name]);
  return [...declared, ...measured].slice(0, KEYS_PER_TABLE);
}

/** `SupportRepId` and `support_rep_id` give the same words; two-letter words are mostly `id`, so they are dropped. */
function wordsOf(...names: readonly string[]): Set<string> {
  const words = names.flatMap((name) =>
    name
      .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .map((word) => word.replace(/s$/, "")),
  );
  return new Set(words.filter((word) => word.length > 2));
}
