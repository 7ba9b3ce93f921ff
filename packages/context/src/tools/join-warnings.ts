import type { JoinPath } from "@tandem/relationships";
import type { Dropped, Inflation, JoinEffects } from "./measure-join.ts";
import type { PendingJoin } from "./pending-joins.ts";

/** Pitfalls of a path when joining and aggregating, in sentences. */
export function joinWarnings(
  path: JoinPath,
  { inflated, dropped }: JoinEffects,
  underReview: readonly PendingJoin[],
): string[] {
  const tables = [path.steps[0]!.from.table, ...path.steps.map(({ to }) => to.table)].map(({ name }) => name);
  return [
    ...inflated.filter(({ reason }) => reason === "fan-out").map(inflationNote),
    ...path.steps.flatMap(({ cardinality }, i) =>
      // Up and then down: rows match that only share the middle.
      cardinality === "many-to-one" && path.steps[i + 1]?.cardinality === "one-to-many"
        ? [
            `${tables[i]} and ${tables[i + 2]} have only ${tables[i + 1]} in common: every row of the one meets every row of the other there.`,
          ]
        : [],
    ),
    ...dropped.map((each) => droppedNote(each, path, tables)),
    ...underReview.map(reviewNote),
  ];
}

function inflationNote({ table, rowsFactor, rows, joinedRows, sumFactor, sumColumn, measured }: Inflation): string {
  const { name } = table;
  const about = measured ? "" : "≈";
  const counts = rows === null || joinedRows === null ? "" : ` (${count(rows)} rows become ${count(joinedRows)})`;
  const times =
    rowsFactor === null ? "may be repeated" : `are repeated ${about}${shown(rowsFactor)} times on average${counts}`;
  const sum =
    sumFactor === null || sumColumn === null
      ? `Sums over columns of ${name} are too high.`
      : `sum(${name}.${sumColumn}) is ${shown(sumFactor)} times its true value.`;
  return `Rows of ${name} ${times}. ${sum} Aggregate ${name} before this join.`;
}

function droppedNote({ position, rows, of, measured }: Dropped, path: JoinPath, tables: readonly string[]): string {
  const about = measured ? "" : "≈";
  const columns = path.steps[position]!.from.columns.join(", ");
  const part = `${about}${count(rows)} of ${count(of)} rows of ${tables[position]}`;
  return `This inner join drops ${part}: their ${columns} has no match in ${tables[position + 1]}. Use LEFT JOIN to keep them.`;
}

export const reviewNote = ({ condition, confidence }: PendingJoin): string =>
  `A direct join is under review: ${condition} (confidence ${shown(confidence)}). Nothing uses it until a person accepts it.`;

const count = (number: number): string => number.toLocaleString("en");
const shown = (number: number): string =>
  Number.isInteger(number) ? number.toFixed(1) : String(Math.round(number * 100) / 100);
