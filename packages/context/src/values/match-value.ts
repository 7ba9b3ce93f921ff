/**
 * How a stored value matches: as given; but for case, accents and punctuation; with a few letters changed; or with the given
 * words as a part of it.
 */
export const MATCHES = ["exact", "spelling", "similar", "part"] as const;
export type Match = (typeof MATCHES)[number];

/** Texts are compared without case, accents and punctuation. */
export const foldValue = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^\p{L}\p{N}+]+/gu, " ")
    .trim();

const SHORTEST_PART = 2;

/** Compares one wanted value with many stored ones. */
export class ValueMatcher {
  readonly #value: string;
  readonly #folded: string;
  readonly #typos: number;

  constructor(value: string) {
    this.#value = value.trim();
    this.#folded = foldValue(value);
    this.#typos = typosIn(this.#folded);
  }

  /** By equality and parts alone; typos cost more and are looked for if this finds nothing. */
  match(stored: string, folded: string): Exclude<Match, "similar"> | undefined {
    if (stored === this.#value) return "exact";
    // A value of punctuation alone, such as `+`, is equal or not.
    if (this.#folded === "") return undefined;
    if (folded === this.#folded) return "spelling";
    // A long value is cut in the catalogue.
    if (stored.endsWith("…") && this.#folded.startsWith(folded)) return "part";
    if (this.#folded.length < SHORTEST_PART || folded.length < this.#folded.length) return undefined;
    return ` ${folded}`.includes(` ${this.#folded}`) ? "part" : undefined;
  }

  /** Number of changed letters, in the whole value or in one of its words; undefined if there are too many. */
  typos(folded: string): number | undefined {
    if (this.#typos === 0) return undefined;
    const whole = distanceWithin(this.#folded, folded, this.#typos);
    if (whole !== undefined || !folded.includes(" ")) return whole;
    const words = folded.split(" ").map((word) => distanceWithin(this.#folded, word, this.#typos) ?? Infinity);
    const best = Math.min(...words);
    return best === Infinity ? undefined : best;
  }
}

/** Changed letters that a person may have meant: none in short words, which are mostly codes. */
const typosIn = ({ length }: string): number => (length < 4 ? 0 : length < 8 ? 1 : 2);

/** Insertions, deletions, substitutions and swaps of neighbours; undefined above `most`. Digits are never changed. */
function distanceWithin(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most || a === "" || digitsIn(a) !== digitsIn(b)) return undefined;
  let twoAgo: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, twoAgo[j - 2]! + 1);
      row.push(cost);
    }
    if (Math.min(...row) > most) return undefined;
    [twoAgo, previous] = [previous, row];
  }
  const distance = previous[b.length]!;
  return distance <= most ? distance : undefined;
}

const digitsIn = (text: string): string => text.replaceAll(/\P{N}+/gu, "");
