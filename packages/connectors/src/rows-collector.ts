import type { Rows, Value } from "./connection.ts";

/** One value may use at most this fraction of the byte limit, so that a long text does not displace all other rows. */
const MAX_VALUE_FRACTION = 8;
const MIN_VALUE_BYTES = 256;
/** Quotes and a comma, or the length of `null`. */
const BYTES_AROUND_A_VALUE = 4;

/** Collects rows up to the row and byte limits. Bytes are those of the values as text. */
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
    this.#valueBytes = Math.max(MIN_VALUE_BYTES, Math.floor(limits.maxBytes / MAX_VALUE_FRACTION));
  }

  /** Number of rows still accepted, plus one to detect truncation. */
  get wanted(): number {
    return this.#maxRows - this.#rows.length + 1;
  }

  /** False if it is full and the row was not added. */
  add(row: readonly Value[]): boolean {
    if (this.#rows.length >= this.#maxRows) return this.#full();
    const values = row.map((value) => this.#cut(value, this.#valueBytes));
    const bytes = values.reduce((sum: number, value) => sum + bytesOf(value), 0);
    if (bytes <= this.#bytesLeft) {
      this.#rows.push(values);
      this.#bytesLeft -= bytes;
      return true;
    }
    // Truncates a first row that is too wide, instead of returning nothing.
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
    // Drops a partial character at the end.
    return `${new TextDecoder().decode(start).replace(/\uFFFD$/, "")}…`;
  }
}

function bytesOf(value: Value): number {
  return BYTES_AROUND_A_VALUE + (typeof value === "string" ? Buffer.byteLength(value) : String(value).length);
}
