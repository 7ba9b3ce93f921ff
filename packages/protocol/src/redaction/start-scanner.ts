/** Bits of a character in the index of a pair. Other characters share entries, which costs only a comparison. */
const BITS = 7;
const MASK = (1 << BITS) - 1;

/**
 * Finds the positions in a text at which one of several short strings starts, in one pass for all of them (Wu and Manber).
 * Regular expressions with that many alternatives are ten times slower.
 */
export class StartScanner<T extends { start: string }> {
  /** The length of the shortest start. */
  readonly #window: number;
  /** By the last two characters of the window: how far the window can move. */
  readonly #moves: Uint8Array;
  /** The items whose window ends with these two characters. */
  readonly #items = new Map<number, T[]>();

  constructor(items: readonly T[]) {
    this.#window = Math.min(...items.map(({ start }) => start.length));
    this.#moves = new Uint8Array(1 << (2 * BITS)).fill(this.#window - 1);
    for (const item of items) {
      for (let at = 1; at < this.#window; at++) {
        const pair = pairAt(item.start, at);
        this.#moves[pair] = Math.min(this.#moves[pair]!, this.#window - 1 - at);
      }
      const last = pairAt(item.start, this.#window - 1);
      this.#items.set(last, [...(this.#items.get(last) ?? []), item]);
    }
  }

  /** Calls back in the order of the positions. */
  scan(text: string, onStart: (item: T, at: number) => void): void {
    const moves = this.#moves;
    const window = this.#window;
    const { length } = text;
    for (let end = window - 1; end < length;) {
      const pair = pairAt(text, end);
      const move = moves[pair]!;
      if (move > 0) {
        end += move;
        continue;
      }
      const at = end - window + 1;
      for (const item of this.#items.get(pair)!) if (text.startsWith(item.start, at)) onStart(item, at);
      end += 1;
    }
  }
}

const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at - 1) & MASK) << BITS) | (text.charCodeAt(at) & MASK);
