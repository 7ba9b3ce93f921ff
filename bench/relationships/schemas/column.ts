import { createHash } from "node:crypto";

export type Cell = string | number | null;

/** Input of the function that generates a column's value for one row. */
export interface Making {
  row: number;
  random: () => number;
  /** The row so far, in the order of its columns. */
  line: Readonly<Record<string, Cell>>;
  /** Rows made so far: of another table all of them, of its own those before this one. */
  rowsOf: (table: string) => readonly Readonly<Record<string, Cell>>[];
  /** One row of another table, the same for all columns of this line. */
  picked: (table: string, slot: string) => Readonly<Record<string, Cell>> | undefined;
}

export interface ColumnSpec {
  type: string;
  /** `table.column`: a true reference, declared as a foreign key. */
  ref?: string;
  make: (making: Making) => Cell;
}

const column = (type: string, make: ColumnSpec["make"]): ColumnSpec => ({ type, make });
const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));

export const serial = (start = 1, step = 1, type = "INTEGER"): ColumnSpec =>
  column(type, ({ row }) => {
    const value = start + row * step;
    return type.startsWith("TEXT") ? String(value) : value;
  });

/** Unlike any other number around: spread over a wide range, without order. */
export const sparse = (salt: number, type = "INTEGER"): ColumnSpec =>
  column(type, ({ row }) => {
    const value = 1_000 + salt * 7 + (((row + 1) * (7919 + salt * 12)) % 990_001);
    return type.startsWith("TEXT") ? String(value) : value;
  });

export const uuid = (salt: string): ColumnSpec =>
  column("TEXT", ({ row }) => {
    const hex = createHash("md5").update(`${salt}${row}`).digest("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  });

/** `A` is a letter and `#` a digit; the digits count rows, so that values are unique. */
export const code = (pattern: string, type = "TEXT"): ColumnSpec =>
  column(type, ({ row }) => {
    const hash = createHash("md5").update(`${pattern}${row}`).digest();
    const digits = String(row + 1).padStart(pattern.split("#").length - 1, "0");
    let [letter, digit] = [0, 0];
    if (!pattern.includes("#")) return letters(row, pattern.length);
    return pattern
      .replaceAll("A", () => String.fromCharCode(65 + (hash[letter++]! % 26)))
      .replaceAll("#", () => digits[digit++] ?? "0");
  });

/** Distinct for every row: a walk through all words of that length. */
const letters = (row: number, length: number): string => {
  const universe = 26 ** length;
  let value = (row * 7_919 + 4_321) % universe;
  let text = "";
  for (let i = 0; i < length; i++) {
    text = String.fromCharCode(65 + (value % 26)) + text;
    value = Math.floor(value / 26);
  }
  return text;
};

export interface ReferenceOptions {
  nulls?: number;
  /** Few of the rows are named very often. */
  skew?: boolean;
  /** Only these rows of the target are ever named. */
  only?: readonly [from: number, to: number];
  type?: string;
  /** A column that looks the same and is no declared reference. */
  undeclared?: boolean;
  /** Written instead of null. */
  none?: Cell;
  /** Share of values whose target is gone. */
  orphans?: number;
  /** For text: padded with zeros to so many digits. */
  padded?: number;
}

/** A reference to `table.column`; to its own table, only to rows made before. */
export const to = (target: string, options: ReferenceOptions = {}): ColumnSpec => {
  const [table = "", name = ""] = target.split(".");
  return {
    type: options.type ?? "INTEGER",
    ...(!options.undeclared && { ref: target }),
    make({ random, rowsOf }) {
      const rows = rowsOf(table);
      const [from, until] = options.only ?? [0, rows.length];
      if (rows.length === 0 || random() < (options.nulls ?? 0)) return options.none ?? null;
      const share = options.skew ? random() ** 3 : random();
      const found = rows[Math.min(rows.length - 1, from + Math.floor(share * (until - from)))]![name] ?? null;
      const value = options.orphans && random() < options.orphans ? orphanOf(found) : found;
      if (options.padded !== undefined && value !== null) return String(value).padStart(options.padded, "0");
      return options.type?.startsWith("TEXT") && value !== null ? String(value) : value;
    },
  };
};

/** Like the value, and in no row. */
function orphanOf(value: Cell): Cell {
  if (typeof value === "number") return value + 900_000;
  const text = String(value);
  return text.length === 36 ? `00000000${text.slice(8)}` : `${text.slice(0, -1)}~`;
}

/** Part of a composite reference: all parts of one slot come from one row of the target. */
export const part = (target: string, type = "INTEGER", slot = target.split(".")[0]!): ColumnSpec => {
  const [table = "", name = ""] = target.split(".");
  return column(type, ({ picked }) => picked(table, slot)?.[name] ?? null);
};

/** A copy of what the row that `via` refers to (by `table.column`) has in another column. */
export const copied = (target: string, name: string, via: string): ColumnSpec => {
  const [table = "", key = ""] = target.split(".");
  return column("TEXT", ({ line, rowsOf }) => rowsOf(table).find((row) => row[key] === line[via])?.[name] ?? null);
};

/** 1, 2, 3 … within the rows that have the same value in another column. */
export const numberWithin = (name: string, table: string): ColumnSpec =>
  column("INTEGER", ({ line, rowsOf }) => 1 + rowsOf(table).filter((row) => row[name] === line[name]).length);

export const int = (low: number, high: number): ColumnSpec =>
  column("INTEGER", ({ random }) => between(random, low, high));
export const money = (high = 900): ColumnSpec =>
  column("REAL", ({ random }) => Math.round(random() * high * 100) / 100 + 0.01);
export const flag = (): ColumnSpec => column("INTEGER", ({ random }) => (random() < 0.5 ? 0 : 1));
export const pick = (...values: readonly Cell[]): ColumnSpec =>
  column(
    typeof values[0] === "number" ? "INTEGER" : "TEXT",
    ({ random }) => values[between(random, 0, values.length - 1)]!,
  );
/** The nth row has the nth value. */
export const listed = (...values: readonly string[]): ColumnSpec =>
  column("TEXT", ({ row }) => values[row] ?? `${values[row % values.length]} ${row}`);
export const date = (): ColumnSpec =>
  column("DATE", ({ random }) => new Date(1_500_000_000_000 + random() * 2e11).toISOString().slice(0, 10));
export const year = (): ColumnSpec => int(1990, 2024);

const SYLLABLES = "ba ko ri ten mo lar ves ni quo dur sha pel om ith zan gre fo lu wick ast".split(" ");
const word = (random: () => number): string => {
  const length = between(random, 2, 3);
  let text = "";
  for (let i = 0; i < length; i++) text += SYLLABLES[between(random, 0, SYLLABLES.length - 1)]!;
  return text[0]!.toUpperCase() + text.slice(1);
};
export const words = (count = 2): ColumnSpec =>
  column("TEXT", ({ random }) => Array.from({ length: count }, () => word(random)).join(" "));
/** A title: words that no other row has. */
export const title = (): ColumnSpec => column("TEXT", ({ random, row }) => `${word(random)} ${word(random)} ${row}`);
export const email = (): ColumnSpec =>
  column("TEXT", ({ random, row }) => `${word(random).toLowerCase()}${row}@example.org`);
