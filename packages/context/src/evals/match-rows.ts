import type { Value } from "@tandem/connectors";

type Row = readonly Value[];

/** Computed sums differ in their last digits, whatever the tolerance is. */
const FLOAT_NOISE = 1e-9;

/** Whether two lists have the same rows: in the same order, or each as often as in the other. */
export function matchRows(
  expected: readonly Row[],
  actual: readonly Row[],
  { ordered, tolerance }: { ordered: boolean; tolerance: number },
): boolean {
  if (expected.length !== actual.length) return false;
  const [wanted, given] = [expected.map(normalRow), actual.map(normalRow)];
  const isSame = (a: Cell[], b: Cell[]) => a.every((cell, index) => isEqual(cell, b[index]!, tolerance));
  if (ordered) return wanted.every((row, index) => isSame(row, given[index]!));
  const groups = new Map<string, { wanted: Cell[][]; given: Cell[][] }>();
  for (const [side, rows] of [
    ["wanted", wanted],
    ["given", given],
  ] as const) {
    for (const row of rows) {
      const key = JSON.stringify(row.map((cell) => (typeof cell === "number" ? 0 : cell)));
      const group = groups.get(key) ?? { wanted: [], given: [] };
      group[side].push(row);
      groups.set(key, group);
    }
  }
  return [...groups.values()].every(
    (group) => group.wanted.length === group.given.length && isMatching(group.wanted, group.given, isSame),
  );
}

/** Sorted rows match pairwise in nearly all cases. Where numbers are close to each other, search for a matching. */
function isMatching(wanted: Cell[][], given: Cell[][], isSame: (a: Cell[], b: Cell[]) => boolean): boolean {
  const [first, second] = [wanted.toSorted(byNumbers), given.toSorted(byNumbers)];
  if (first.every((row, index) => isSame(row, second[index]!))) return true;
  if (first.length > MOST_MATCHED || (first[0]?.filter(isNumber).length ?? 0) < 2) return false;
  const partners = new Map<number, number>();
  const assign = (row: number, visited: Set<number>): boolean =>
    second.some((other, index) => {
      if (visited.has(index) || !isSame(first[row]!, other)) return false;
      visited.add(index);
      const holder = partners.get(index);
      if (holder !== undefined && !assign(holder, visited)) return false;
      partners.set(index, row);
      return true;
    });
  return first.every((_, row) => assign(row, new Set()));
}

/** A matching takes quadratic time. */
const MOST_MATCHED = 2_000;

type Cell = string | number | null;

const normalRow = (row: Row): Cell[] => row.map(normalCell);

/**
 * Makes values of different databases comparable: decimals arrive as text, booleans as 0 and 1, and days as midnights.
 * Whole numbers in text stay text, because they can be codes with leading zeros.
 */
function normalCell(value: Value): Cell {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return value;
  if (/^-?\d+\.\d+$/.test(value)) return Number(value);
  const midnight = /^(\d{4}-\d\d-\d\d)[T ]00:00(:00(\.0+)?)?(Z|\+00(:?00)?)?$/.exec(value);
  return midnight ? midnight[1]! : value;
}

const isNumber = (cell: Cell): cell is number => typeof cell === "number";

function isEqual(a: Cell, b: Cell, tolerance: number): boolean {
  if (!isNumber(a) || !isNumber(b)) return a === b;
  return Math.abs(a - b) <= Math.max(tolerance, FLOAT_NOISE * Math.max(Math.abs(a), Math.abs(b)));
}

function byNumbers(a: Cell[], b: Cell[]): number {
  for (const [index, cell] of a.entries()) {
    const other = b[index]!;
    if (isNumber(cell) && isNumber(other) && cell !== other) return cell - other;
  }
  return 0;
}
