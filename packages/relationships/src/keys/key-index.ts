import { ownership, withoutOrdinal } from "../names/name-evidence.ts";
import type { ColumnFacts } from "../data/table-facts.ts";
import type { Key } from "./table-keys.ts";
import type { Vocabulary } from "../names/vocabulary.ts";

const LEAST_LIKENESS = 0.45;

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
    for (const key of keys) {
      if (key.columns.length > 1) continue;
      for (const words of this.#namesOf(key)) {
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

  near(column: ColumnFacts): ReadonlySet<Key> {
    const near = new Set<Key>();
    const readings = this.#vocabulary.read(column);
    for (const { entity } of [...readings, ...readings.flatMap((name) => withoutOrdinal(name) ?? [])]) {
      for (const word of endsOf(entity)) {
        for (const key of this.#lasts.near(word, this.#vocabulary)) near.add(key);
      }
      if (entity.length === 1) for (const key of this.#firsts.near(entity[0]!, this.#vocabulary)) near.add(key);
    }
    return near;
  }

  #namesOf(key: Key): (readonly string[])[] {
    const names = this.#vocabulary.read(key.columns[0]!).map(({ entity }) => entity);
    names.push(...this.#vocabulary.entitiesOf(key.table).map(({ words }) => words));
    return names.filter((words) => words.length > 0);
  }
}

/** Similar words share their first letter, so words are indexed by it. */
class WordIndex {
  readonly #byLetter = new Map<string, Map<string, Key[]>>();
  readonly #near = new Map<string, ReadonlySet<Key>>();

  add(word: string, key: Key): void {
    const words = this.#byLetter.get(word[0]!) ?? new Map<string, Key[]>();
    this.#byLetter.set(word[0]!, words);
    words.set(word, [...(words.get(word) ?? []), key]);
  }

  near(word: string, vocabulary: Vocabulary): ReadonlySet<Key> {
    let near = this.#near.get(word);
    if (!near) {
      const alike = [...(this.#byLetter.get(word[0]!) ?? [])].filter(
        ([other]) => vocabulary.likeness(word, other) >= LEAST_LIKENESS,
      );
      this.#near.set(word, (near = new Set(alike.flatMap(([, keys]) => keys))));
    }
    return near;
  }
}

const nameOf = (key: Key): string => key.columns[0]!.name.toLowerCase();

/** The last one, two and three words and the whole name, joined: names may be written without separators. */
const endsOf = (words: readonly string[]): Set<string> =>
  new Set(words.length === 0 ? [] : [1, 2, 3, words.length].map((count) => words.slice(-count).join("")));
