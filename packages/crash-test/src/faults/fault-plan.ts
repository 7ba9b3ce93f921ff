import type { SeededRandom } from "../seeded-random.ts";

/** In such a round no process is hit, so that no turn may fail and no model request be repeated. */
const STRICT_EVERY = 4;
const STRICT_AT = 2;

/** Which faults happen in which round: each kind equally often, in a random order that the seed repeats. */
export class FaultPlan {
  readonly #kinds: readonly string[];
  readonly #sparing: readonly string[];
  readonly #random: SeededRandom;
  readonly #counts = new Map<string, number>();

  /** `sparing`: the kinds that hit no process. */
  constructor(kinds: readonly string[], sparing: readonly string[], random: SeededRandom) {
    this.#kinds = kinds;
    this.#sparing = kinds.filter((kind) => sparing.includes(kind));
    this.#random = random;
  }

  take(round: number, count: number): string[] {
    const isStrict = round % STRICT_EVERY === STRICT_AT && this.#sparing.length > 0;
    const kinds = isStrict ? this.#sparing : this.#kinds;
    return Array.from({ length: count }, () => this.#takeOne(kinds));
  }

  #takeOne(kinds: readonly string[]): string {
    const countOf = (kind: string): number => this.#counts.get(kind) ?? 0;
    const least = Math.min(...kinds.map(countOf));
    const [first = "", ...others] = kinds.filter((kind) => countOf(kind) === least);
    const kind = this.#random.pick([first, ...others]);
    this.#counts.set(kind, least + 1);
    return kind;
  }
}
