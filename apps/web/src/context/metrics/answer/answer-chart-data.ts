import type { MetricAnswer } from "@tandem/protocol";
import { nextPeriod, periodLabel, periodOf } from "./period.ts";

type Answer = Pick<MetricAnswer, "columns" | "rows">;
type Cell = MetricAnswer["rows"][number][number];

interface MetricChart {
  /** Index of its column. */
  metric: number;
  series: { name: string; values: (number | null)[] }[];
}

export type ChartData =
  | { kind: "none"; reason: string }
  /** One row without groups: the figures themselves. */
  | { kind: "figures" }
  | {
      kind: "line" | "bars";
      /** Index of the column along the horizontal axis. */
      x: number;
      labels: string[];
      /** One chart per metric: their units differ. */
      charts: MetricChart[];
      /** Says which values the chart omits. */
      notes: string[];
    };

/** A canvas with more points than pixels shows nothing; more lines than colours cannot be told apart. */
const MAX_POINTS = 500;
const MAX_SERIES = 6;
const EMPTY = "(empty)";

/** A line over a time, or bars over categories; a second field gives one line or bar for each of its values. */
export function answerChartData(answer: Answer): ChartData {
  const fields = indexesOf(answer, "dimension");
  const metrics = indexesOf(answer, "metric");
  if (answer.rows.length === 0) return { kind: "none", reason: "No rows." };
  if (fields.length === 0) return { kind: "figures" };
  if (fields.length > 2) return { kind: "none", reason: "A chart can show up to two fields. See the table." };
  const x = fields.find((at) => isTime(answer, at)) ?? fields[0]!;
  const split = fields.find((at) => at !== x);
  const isLine = isTime(answer, x);
  const notes: string[] = [];
  const places = isLine ? timesOf(answer, x, notes) : distinct(answer.rows, x);
  if (places.length < 2 && isLine) return { kind: "none", reason: "A line needs two periods. See the table." };
  if (places.length > MAX_POINTS) notes.push(`The first ${MAX_POINTS} of ${places.length.toLocaleString()} are shown.`);
  const shown = places.slice(0, MAX_POINTS);
  const period = periodOf(answer.columns[x]!.name);
  return {
    kind: isLine ? "line" : "bars",
    x,
    labels: shown.map((value) => (value === null ? EMPTY : periodLabel(String(value), period))),
    charts: metrics.map((metric) => ({ metric, series: seriesOf(answer, { x, split, metric, places: shown }, notes) })),
    notes: [...new Set(notes)],
  };
}

const indexesOf = ({ columns }: Answer, kind: "dimension" | "metric"): number[] =>
  columns.flatMap((column, at) => (column.kind === kind ? [at] : []));

const isTime = ({ columns }: Answer, at: number): boolean => {
  const { name, type } = columns[at]!;
  return type === "day" || type === "instant" || periodOf(name) !== undefined;
};

const distinct = (rows: Answer["rows"], at: number): Cell[] => [...new Set(rows.map((row) => row[at] ?? null))];

/** The periods in order. A period without rows is a gap in the line, so the axis includes it. */
function timesOf({ columns, rows }: Answer, x: number, notes: string[]): Cell[] {
  const all = distinct(rows, x);
  if (all.includes(null)) notes.push("Rows without a time are only in the table.");
  const known = all.filter((value) => value !== null).sort((a, b) => (String(a) < String(b) ? -1 : 1));
  const period = periodOf(columns[x]!.name);
  if (period === undefined) return known;
  const filled: Cell[] = [];
  for (const time of known) {
    for (let next = follow(filled.at(-1), period); next !== undefined && next < String(time);) {
      filled.push(next);
      if (filled.length > MAX_POINTS) return known;
      next = nextPeriod(next, period);
    }
    filled.push(time);
  }
  return filled;
}

const follow = (last: Cell | undefined, period: NonNullable<ReturnType<typeof periodOf>>): string | undefined =>
  last === undefined || last === null ? undefined : nextPeriod(String(last), period);

function seriesOf(
  { columns, rows }: Answer,
  { x, split, metric, places }: { x: number; split: number | undefined; metric: number; places: readonly Cell[] },
  notes: string[],
): MetricChart["series"] {
  const figure = (row: readonly Cell[]): number | null => {
    const value = row[metric] ?? null;
    return value === null || Number.isNaN(Number(value)) ? null : Number(value);
  };
  const values = (own: Answer["rows"]): (number | null)[] => {
    const byPlace = new Map(own.map((row) => [row[x] ?? null, figure(row)]));
    return places.map((place) => byPlace.get(place) ?? null);
  };
  const { name, label } = columns[metric]!;
  if (split === undefined) return [{ name: label ?? name, values: values(rows) }];
  const groups = [...Map.groupBy(rows, (row) => row[split] ?? null)];
  const size = (own: Answer["rows"]): number => own.reduce((sum, row) => sum + Math.abs(figure(row) ?? 0), 0);
  const largest = groups.toSorted(([, a], [, b]) => size(b) - size(a)).slice(0, MAX_SERIES);
  if (groups.length > MAX_SERIES) {
    notes.push(`The ${MAX_SERIES} largest of ${groups.length} values of ${columns[split]!.name} are shown.`);
  }
  const period = periodOf(columns[split]!.name);
  return largest.map(([value, own]) => ({
    name: value === null ? EMPTY : periodLabel(String(value), period),
    values: values(own),
  }));
}
