import type { SqlAnswer } from "@tandem/protocol";

export type CellValue = SqlAnswer["rows"][number][number];
export type ColumnType = "integer" | "decimal" | "boolean" | "date" | "time" | "text" | "empty";

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;
const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function typeOf(value: Exclude<CellValue, null>): ColumnType {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "decimal";
  if (DATE.test(value)) return "date";
  if (TIME.test(value)) return "time";
  return "text";
}

/** The type of each column, from the values shown. Exact decimals and large integers arrive as text. */
export function columnTypes({ columns, rows }: Pick<SqlAnswer, "columns" | "rows">): ColumnType[] {
  return columns.map((_, at) => {
    const values = rows.map((row) => row[at] ?? null).filter((value) => value !== null);
    if (values.length === 0) return "empty";
    if (values.every((value) => typeof value === "number" || INTEGER.test(String(value)))) {
      return values.every((value) => INTEGER.test(String(value))) ? "integer" : "decimal";
    }
    if (values.every((value) => DECIMAL.test(String(value)))) return "decimal";
    const types = new Set(values.map(typeOf));
    return types.size === 1 ? [...types][0]! : "text";
  });
}

export const isNumeric = (type: ColumnType | undefined): boolean => type === "integer" || type === "decimal";
