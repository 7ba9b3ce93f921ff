import type { Rows, Value } from "./connection.ts";

/** Of what a result may weigh, one value takes at most this part: a long text does not push out all the other rows. */
const PART_OF_ONE_VALUE = 8;
const LEAST_OF_ONE_VALUE = 256;
/** Quotes and a comma, or what `null` takes. */
const BYTES_AROUND_A_VALUE = 4;

/** Takes rows until there are enough of them, or they weigh too much. Bytes are those of the values as text. */
export class RowsCollector {
  readonly #columns: readonly string[];
  readonly #rows: Value[][] = [];
  readonly #maxRows: number;
  readonly #valueBytes: number;
  #bytesLeft: number;
  #truncated = false;

  constructor(columns: readonly string[], limits: { maxRows: number; maxBytes: number }) {
    this.#columns = columns;
    this.#maxRows = limits.maxRows;
    this.#bytesLeft = limits.maxBytes;
    this.#valueBytes = Math.max(LEAST_OF_ONE_VALUE, Math.floor(limits.maxBytes / PART_OF_ONE_VALUE));
  }

  /** How many rows it would still take, and one, to know whether there are more. */
  get wanted(): number {
    return this.#maxRows - this.#rows.length + 1;
  }

  /** False: it is full, and the row was not taken. */
  add(row: readonly Value[]): boolean {
    if (this.#rows.length >= this.#maxRows) return this.#full();
    const values = row.map((value) => this.#cut(value, this.#valueBytes));
    const bytes = values.reduce((sum: number, value) => sum + bytesOf(value), 0);
    if (bytes <= this.#bytesLeft) {
      this.#rows.push(values);
      this.#bytesLeft -= bytes;
      return true;
    }
    // Of a first row that is too wide, what there is room for: nothing at all would say less.
    if (this.#rows.length === 0) {
      this.#rows.push(values.map((value) => this.#cut(value, Math.floor(this.#bytesLeft / values.length))));
    }
    return this.#full();
  }

  result(): Rows {
    return { columns: this.#columns, rows: this.#rows, truncated: this.#truncated };
  }

  #full(): false {
    this.#truncated = true;
    return false;
  }

  #cut(value: Value, bytes: number): Value {
    if (typeof value !== "string" || value.length <= bytes / 3 || Buffer.byteLength(value) <= bytes) return value;
    this.#truncated = true;
    const start = Buffer.from(value.slice(0, bytes), "utf8").subarray(0, bytes);
    // A character of which the last bytes were cut off goes whole.
    return `${new TextDecoder().decode(start).replace(/\uFFFD$/, "")}…`;
  }
}

function bytesOf(value: Value): number {
  return BYTES_AROUND_A_VALUE + (typeof value === "string" ? Buffer.byteLength(value) : String(value).length);
}
