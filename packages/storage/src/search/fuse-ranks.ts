import type { SearchHit } from "../search-index.ts";

/** Standard constant of reciprocal rank fusion: damps the advantage of the first ranks. */
const K = 60;

export interface Fused {
  number: number;
  score: number;
  by: SearchHit["by"];
}

/** Reciprocal rank fusion. The first `exact` full-text results match the name exactly and stay before all others. */
export function fuseRanks(words: readonly number[], meaning: readonly number[], exact: number): Fused[] {
  const fused = new Map<number, { number: number; score: number; by: ("words" | "meaning")[] }>();
  const add = (numbers: readonly number[], way: "words" | "meaning"): void => {
    for (const [index, number] of numbers.entries()) {
      const entry = fused.get(number) ?? { number, score: 0, by: [] };
      entry.score += 1 / (K + index + 1) + (way === "words" && index < exact ? 1 : 0);
      entry.by.push(way);
      fused.set(number, entry);
    }
  };
  add(words, "words");
  add(meaning, "meaning");
  return [...fused.values()].sort((a, b) => b.score - a.score || a.number - b.number);
}
