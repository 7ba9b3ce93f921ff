/** Vectors of equal length in one array, by document number. Compares by cosine similarity. */
export class VectorMatrix {
  readonly #length: number;
  #rows = new Float32Array();
  #documents = new Float64Array();
  #count = 0;
  readonly #places = new Map<number, number>();

  constructor(length: number) {
    this.#length = length;
  }

  get bytes(): number {
    return this.#rows.byteLength;
  }

  /** Adds or replaces vectors. */
  put(documents: Float64Array, vectors: Float32Array): void {
    this.#reserve(this.#count + documents.length);
    for (const [index, document] of documents.entries()) {
      let place = this.#places.get(document);
      if (place === undefined) {
        place = this.#count;
        this.#count += 1;
        this.#places.set(document, place);
        this.#documents[place] = document;
      }
      const vector = vectors.subarray(index * this.#length, (index + 1) * this.#length);
      this.#rows.set(toUnit(vector), place * this.#length);
    }
  }

  /** Removes all other documents. */
  keep(documents: Float64Array): void {
    const kept = new Set(documents);
    let count = 0;
    for (let place = 0; place < this.#count; place += 1) {
      const document = this.#documents[place]!;
      if (!kept.has(document)) {
        this.#places.delete(document);
        continue;
      }
      if (place !== count) {
        this.#rows.copyWithin(count * this.#length, place * this.#length, (place + 1) * this.#length);
        this.#documents[count] = document;
        this.#places.set(document, count);
      }
      count += 1;
    }
    this.#count = count;
  }

  /** Nearest first. Vectors with a negative similarity are excluded. */
  nearest(vector: Float32Array, count: number, among?: Float64Array): number[] {
    const query = toUnit(vector);
    const best = new TopN(count);
    if (among) {
      for (const document of among) {
        const place = this.#places.get(document);
        if (place !== undefined) best.offer(document, this.#dot(query, place));
      }
    } else {
      for (let place = 0; place < this.#count; place += 1) best.offer(this.#documents[place]!, this.#dot(query, place));
    }
    return best.documents;
  }

  /** Four independent sums avoid waiting for the previous addition (instruction-level parallelism). */
  #dot(query: Float32Array, place: number): number {
    const rows = this.#rows;
    const length = this.#length;
    const start = place * length;
    let [a, b, c, d] = [0, 0, 0, 0];
    let index = 0;
    for (; index + 3 < length; index += 4) {
      a += query[index]! * rows[start + index]!;
      b += query[index + 1]! * rows[start + index + 1]!;
      c += query[index + 2]! * rows[start + index + 2]!;
      d += query[index + 3]! * rows[start + index + 3]!;
    }
    for (; index < length; index += 1) a += query[index]! * rows[start + index]!;
    return a + b + c + d;
  }

  #reserve(count: number): void {
    if (count * this.#length <= this.#rows.length) return;
    const capacity = Math.max(count, Math.ceil((this.#rows.length / this.#length) * 1.5), 1_000);
    const rows = new Float32Array(capacity * this.#length);
    rows.set(this.#rows.subarray(0, this.#count * this.#length));
    const documents = new Float64Array(capacity);
    documents.set(this.#documents.subarray(0, this.#count));
    this.#rows = rows;
    this.#documents = documents;
  }
}

/** A zero vector stays zero and matches nothing. */
function toUnit(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 && Number.isFinite(length)
    ? vector.map((value) => value / length)
    : new Float32Array(vector.length);
}

/** Keeps the top N entries. */
class TopN {
  readonly #most: number;
  readonly #entries: { document: number; score: number }[] = [];
  #least = 0;

  constructor(most: number) {
    this.#most = most;
  }

  offer(document: number, score: number): void {
    if (!(score > this.#least)) return;
    const at = this.#entries.findIndex((entry) => entry.score < score);
    this.#entries.splice(at < 0 ? this.#entries.length : at, 0, { document, score });
    if (this.#entries.length > this.#most) this.#entries.pop();
    if (this.#entries.length === this.#most) this.#least = this.#entries.at(-1)!.score;
  }

  get documents(): number[] {
    return this.#entries.map(({ document }) => document);
  }
}
