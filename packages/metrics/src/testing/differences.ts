import type { Cell } from "./scenarios/scenario.ts";

/** Sentences about rows that are missing, surplus or different. The first `dimensions` cells identify a row. */
export function differences(
  rows: readonly (readonly Cell[])[],
  truth: ReadonlyMap<string, readonly Cell[]>,
  dimensions: number,
): string[] {
  const seen = new Map(rows.map((row) => [keyOf(row, dimensions), row]));
  const expected = new Map([...truth.values()].map((row) => [keyOf(row, dimensions), row]));
  return [
    ...(seen.size === rows.length ? [] : ["A group appears twice."]),
    ...[...expected].flatMap(([key, row]) => {
      const found = seen.get(key);
      if (!found) return [`${key} is missing.`];
      const wrong = row.findIndex((cell, at) => at >= dimensions && !isEqual(cell, found[at]!));
      return wrong < 0 ? [] : [`${key}: column ${wrong} is ${String(found[wrong])} instead of ${String(row[wrong])}.`];
    }),
    ...[...seen.keys()].filter((key) => !expected.has(key)).map((key) => `${key} is surplus.`),
  ];
}

const keyOf = (row: readonly Cell[], dimensions: number): string =>
  JSON.stringify(row.slice(0, dimensions).map((cell) => (typeof cell === "boolean" ? Number(cell) : cell)));

function isEqual(a: Cell, b: Cell): boolean {
  if (a === null || b === null) return a === b;
  const [left, right] = [Number(a), Number(b)];
  return Math.abs(left - right) <= 1e-9 * Math.max(1, Math.abs(left), Math.abs(right));
}
