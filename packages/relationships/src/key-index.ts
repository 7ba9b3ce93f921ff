import { ownership } from "./name-evidence.ts";
import type { ColumnFacts } from "./table-facts.ts";
import type { Key } from "./table-keys.ts";
import type { Vocabulary } from "./vocabulary.ts";

const LEAST_LIKENESS = 0.45;

/** Keys by the words of their names and tables, so that a column is compared with few of them. */
export class KeyIndex {
  readonly #vocabulary: Vocabulary;
  readonly #byWord = new Map<string, Key[]>();
  readonly #near = new Map<string, ReadonlySet<Key>>();
  readonly #names = new Map<string, number>();

  constructor(keys: readonly Key[], vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    for (const key of keys) {
      if (key.columns.length > 1) continue;
      for (const word of this.#wordsOf(key)) this.#byWord.set(word, [...(this.#byWord.get(word) ?? []), key]);
      if (key.primary) this.#names.set(nameOf(key), (this.#names.get(nameOf(key)) ?? 0) + 1);
    }
  }

  /** How many tables call their key so, where the name is not the table's own: a `f1` of many says nothing. */
  commonness(key: Key): number {
    const reading = this.#vocabulary.read(key.columns[0]!).at(-1)!;
    return ownership(reading, key.table, this.#vocabulary) >= LEAST_LIKENESS ? 1 : (this.#names.get(nameOf(key)) ?? 1);
  }

  near(column: ColumnFacts): ReadonlySet<Key> {
    const readings = this.#vocabulary.read(column);
    const words = readings.flatMap(({ entity }) => [...entity, ...joined(entity)]);
    return new Set([...new Set(words)].flatMap((word) => [...this.#nearWord(word)]));
  }

  #nearWord(word: string): ReadonlySet<Key> {
    let near = this.#near.get(word);
    if (!near) {
      const alike = [...this.#byWord].filter(([other]) => this.#vocabulary.likeness(word, other) >= LEAST_LIKENESS);
      this.#near.set(word, (near = new Set(alike.flatMap(([, keys]) => keys))));
    }
    return near;
  }

  #wordsOf(key: Key): Set<string> {
    const names = this.#vocabulary.read(key.columns[0]!).map(({ entity }) => entity);
    if (key.primary) names.push(...this.#vocabulary.entitiesOf(key.table).map(({ words }) => words));
    const initials = names.filter((words) => words.length > 1).map((words) => words.map((word) => word[0]).join(""));
    return new Set([...names.flatMap((words) => [...words, ...joined(words)]), ...initials]);
  }
}

const nameOf = (key: Key): string => key.columns[0]!.name.toLowerCase();
const joined = (words: readonly string[]): string[] =>
  words.length > 1 ? [words.join(""), words.slice(-2).join("")] : [];
