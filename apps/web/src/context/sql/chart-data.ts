import type { SqlAnswer } from "@tandem/protocol";
import { columnTypes, isNumeric } from "./column-types.ts";

export const CHART_KINDS = ["bars", "line", "points"] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartChoice {
  kind: ChartKind;
  /** Indexes of columns. */
  x: number;
  y: number;
}

/** A canvas with more bars than pixels shows nothing. */
const MAX_POINTS = 500;

/** The first choice: a column of names or days, and the first other column of numbers. Undefined without numbers. */
export function firstChoice(answer: Pick<SqlAnswer, "columns" | "rows">): ChartChoice | undefined {
  if (answer.rows.length < 2) return undefined;
  const types = columnTypes(answer);
  const label = types.findIndex((type) => !isNumeric(type) && type !== "empty");
  const x = label === -1 ? 0 : label;
  const y = types.findIndex((type, at) => at !== x && isNumeric(type));
  if (y === -1) return undefined;
  return { kind: types[x] === "date" || types[x] === "time" ? "line" : "bars", x, y };
}

export function chartData({ columns, rows }: Pick<SqlAnswer, "columns" | "rows">, { x, y }: ChartChoice) {
  const shown = rows.slice(0, MAX_POINTS);
  return {
    labels: shown.map((row) => String(row[x] ?? "null")),
    series: [
      {
        name: columns[y] ?? "",
        values: shown.map((row) => (row[y] === null || row[y] === undefined ? null : Number(row[y]))),
      },
    ],
    isCut: rows.length > MAX_POINTS,
  };
}
