import { ownership, withoutOrdinal } from "../names/name-evidence.ts";
import type { ColumnFacts, TableFacts } from "../data/table-facts.ts";
import type { Key } from "../data/key.ts";
import type { Vocabulary } from "../names/vocabulary.ts";

const LEAST_LIKENESS = 0.45;
/** An alternate key's name that this many tables share says nothing about any of them. */
const COMMON = 8;
/** Keys that each column is compared with, the most alike first: bounds the work in large schemas. */
const NEAREST = 100;
/** Alternate keys found by their table's name, the best first. */
const ALTERNATES = 4;

/**
 * Keys by their decisive words: the last words of names and tables, and the first ones for single-word columns (`order`
 * for order_header). So each column is compared with few keys.
 */
export class KeyIndex {
  readonly #vocabulary: Vocabulary;
  readonly #lasts = new WordIndex();
  readonly #firsts = new WordIndex();
  readonly #names = new Map<string, number>();
  readonly #commonness = new Map<Key, number>();

  constructor(keys: readonly Key[], vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    const single = keys.filter(({ columns }) => columns.length === 1);
    const alternates = new Map<TableFacts, number>();
    const tables = Map.groupBy(single, nameOf);
    for (const key of single) {
      const before = alternates.get(key.table) ?? 0;
      if (!key.primary) alternates.set(key.table, before + 1);
      const names = [
        ...(key.primary || tables.get(nameOf(key))!.length <= COMMON ? this.#ownNames(key) : []),
        ...(key.primary || before < ALTERNATES ? this.#tableNames(key) : []),
      ];
      for (const words of names) {
        for (const word of endsOf(words)) this.#lasts.add(word, key);
        if (words.length > 1) this.#lasts.add(words.map((word) => word[0]).join(""), key);
        if (words.length > 1) this.#firsts.add(words[0]!, key);
      }
      if (key.primary) this.#names.set(nameOf(key), (this.#names.get(nameOf(key)) ?? 0) + 1);
    }
  }

  /** Number of tables with this generic key name: `f1` in many tables carries no information. */
  commonness(key: Key): number {
    let common = this.#commonness.get(key);
    if (common === undefined) {
      const reading = this.#vocabulary.read(key.columns[0]!).at(-1)!;
      const isOwn = ownership(reading, key.table, this.#vocabulary) >= LEAST_LIKENESS;
      this.#commonness.set(key, (common = isOwn ? 1 : (this.#names.get(nameOf(key)) ?? 1)));
    }
    return common;
  }

  /** The keys with the most similar words. */
  near(column: ColumnFacts): Key[] {
    const near = new Map<Key, number>();
    const add = (found: Nearness) => {
      for (const [key, likeness] of found) near.set(key, (near.get(key) ?? 0) + likeness);
    };
    const readings = this.#vocabulary.read(column);
    for (const { entity } of [...readings, ...readings.flatMap((name) => withoutOrdinal(name) ?? [])]) {
      for (const word of endsOf(entity)) add(this.#lasts.near(word, this.#vocabulary));
      if (entity.length === 1) add(this.#firsts.near(entity[0]!, this.#vocabulary));
      else if (entity.length > 1 && this.#vocabulary.isHeadFirst) add(this.#lasts.near(entity[0]!, this.#vocabulary));
    }
    const ranked = [...near];
    if (ranked.length > NEAREST) ranked.sort(([a, x], [b, y]) => y - x || Number(b.primary) - Number(a.primary));
    return ranked.slice(0, NEAREST).map(([key]) => key);
  }

  #ownNames = (key: Key): (readonly string[])[] =>
    this.#vocabulary
      .read(key.columns[0]!)
      .map(({ entity }) => entity)
      .filter((words) => words.length > 0);

  #tableNames = (key: Key): (readonly string[])[] => this.#vocabulary.entitiesOf(key.table).map(({ words }) => words);
}

type Nearness = ReadonlyMap<Key, number>;

/** Similar words share their first letter, so words are indexed by it. */
class WordIndex {
  readonly #byLetter = new Map<string, Map<string, Set<Key>>>();
  readonly #near = new Map<string, Nearness>();

  add(word: string, key: Key): void {
    const words = this.#byLetter.get(word[0]!) ?? new Map<string, Set<Key>>();
    this.#byLetter.set(word[0]!, words);
    const keys = words.get(word);
    if (keys) keys.add(key);
    else words.set(word, new Set([key]));
  }

  near(word: string, vocabulary: Vocabulary): Nearness {
    let near = this.#near.get(word);
    if (!near) {
      const found = new Map<Key, number>();
      for (const [other, keys] of this.#byLetter.get(word[0]!) ?? []) {
        const likeness = vocabulary.likeness(word, other);
        if (likeness < LEAST_LIKENESS) continue;
        for (const key of keys) found.set(key, Math.max(likeness, found.get(key) ?? 0));
      }
      this.#near.set(word, (near = found));
    }
    return near;
  }
}

const nameOf = (key: Key): string => key.columns[0]!.name.toLowerCase();

/** The last one, two and three words and the whole name, joined: names may be written without separators. */
const endsOf = (words: readonly string[]): Set<string> =>
  new Set(words.length === 0 ? [] : [1, 2, 3, words.length].map((count) => words.slice(-count).join("")));
