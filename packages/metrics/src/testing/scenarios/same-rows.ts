import type { Cell } from "./scenario.ts";

/** Whether two results have the same rows, equal ones as often, in any order. Numbers may differ by rounding. */
export function sameRows(a: readonly (readonly unknown[])[], b: readonly (readonly unknown[])[]): boolean {
  if (a.length !== b.length) return false;
  const left = b.map(plainRow);
  return a.map(plainRow).every((row) => {
    const at = left.findIndex((other) => isSame(row, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** The same, and in the same order. */
export const sameOrder = (a: readonly (readonly unknown[])[], b: readonly (readonly unknown[])[]): boolean =>
  a.length === b.length && a.every((row, at) => isSame(plainRow(row), plainRow(b[at]!)));

export const plainRow = (row: readonly unknown[]): Cell[] => row.map(plain);

function plain(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  if (typeof value === "string" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return Number(value);
  return typeof value === "number" || typeof value === "string" ? value : JSON.stringify(value);
}

const isSame = (a: readonly Cell[], b: readonly Cell[]): boolean =>
  a.length === b.length && a.every((cell, at) => isSameCell(cell, b[at]!));

function isSameCell(a: Cell, b: Cell): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
}
