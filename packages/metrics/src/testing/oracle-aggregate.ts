import { bucket } from "./oracle-time.ts";
import type { Row } from "./random-case.ts";
import type { Cell } from "./scenarios/scenario.ts";

export const isGood = (row: Row): boolean =>
  ["a", "b"].includes(String(row["word"] ?? "")) && Number(row["amount"] ?? 0) > 0;

export function counts(measure: string, row: Row): boolean {
  if (measure === "good") return isGood(row);
  return measure !== "flagged" || row["flag"] === true;
}

const numbers = (cells: readonly (Cell | undefined)[]): number[] =>
  cells.flatMap((cell) => (typeof cell === "number" ? [cell] : []));
export const sum = (cells: readonly (Cell | undefined)[]): Cell => {
  const known = numbers(cells);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
};

/** Undefined: no row of the group counts. */
export function aggregate(measure: string, rows: readonly Row[], zone: string | undefined): Cell | undefined {
  const amounts = rows.map((row) => row["amount"]);
  const known = numbers(amounts);
  switch (measure) {
    case "rows":
    case "flagged":
      return rows.length;
    case "amounts":
      return known.length;
    case "words":
      return new Set(rows.flatMap((row) => (row["word"] === null ? [] : [row["word"]]))).size;
    case "largest":
      return known.length === 0 ? null : Math.max(...known);
    case "smallest":
      return known.length === 0 ? null : Math.min(...known);
    case "mean":
      return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
    case "good":
      return sum(known.map((amount) => amount * 2));
    case "typical": {
      const timed = rows.filter((row) => row["at"] !== null);
      if (timed.length === 0) return undefined;
      const perTime = [...Map.groupBy(timed, (row) => bucket(String(row["at"]), "minute", zone)).values()];
      const sums = numbers(perTime.map((part) => sum(part.map((row) => row["amount"]))));
      return sums.length === 0 ? null : sums.reduce((a, b) => a + b, 0) / sums.length;
    }
    default:
      return sum(amounts);
  }
}

/** The rows of the last or first time of each period, and for `latest_each` of each word, to the second. */
export function atEdge(
  measure: string,
  rows: readonly { cells: Cell[]; row: Row }[],
  isPeriod: readonly boolean[],
  zone: string | undefined,
): readonly { cells: Cell[]; row: Row }[] {
  if (!["latest", "first", "latest_each"].includes(measure)) return rows;
  const timeOf = ({ row }: { row: Row }): string =>
    measure === "latest_each" ? String(row["at"]) : bucket(String(row["at"]), "minute", zone);
  const timed = rows.filter(({ row }) => row["at"] !== null);
  const parts = Map.groupBy(timed, ({ cells, row }) =>
    JSON.stringify([cells.filter((_, at) => isPeriod[at]), measure === "latest_each" ? row["word"] : null]),
  );
  return [...parts.values()].flatMap((part) => {
    const times = part.map(timeOf).toSorted();
    const wanted = measure === "first" ? times[0] : times.at(-1);
    return part.filter((one) => timeOf(one) === wanted);
  });
}
