import type { MetricAnswer, MetricDefinition, MetricField, MetricProblem, MetricSummary } from "@tandem/protocol";
import { clip, printable, type Style, table } from "../terminal.ts";

/** Longer cells would make the table unreadable on a terminal. */
const CELL = 60;
const SHOWN_VALUES = 8;

export function listMetrics({ bold, dim, bad }: Style, metrics: readonly MetricSummary[]): string[] {
  if (metrics.length === 0) {
    return [dim("No metrics. Define them in metrics/<connection>/<entity>.yaml of the context.")];
  }
  const rows = metrics.map((metric) => [
    bold(metric.name),
    metric.unit ?? "",
    metric.kind,
    metric.entity,
    metric.broken
      ? bad(`broken: ${oneLine(metric.broken.message)}`)
      : oneLine(metric.description ?? metric.label ?? ""),
  ]);
  return table([["METRIC", "UNIT", "KIND", "ENTITY", "DESCRIPTION"].map(dim), ...rows]);
}

export function describeMetric({ bold, dim, bad }: Style, metric: MetricDefinition): string[] {
  const { broken, measures, segments, fields } = metric;
  const facts = Object.entries({
    connection: metric.connection,
    entity: metric.entity,
    kind: metric.kind,
    unit: metric.unit,
    owner: metric.owner,
    "other names": metric.aka.join(", "),
    page: metric.page,
    tables: metric.tables.join(", "),
    uses: metric.uses.join(", "),
    file: `${metric.path} at ${metric.version}`,
  }).flatMap(([name, value]) => (value ? [[dim(name), printable(value)]] : []));
  return [
    bold(printable(metric.label ? `${metric.label} (${metric.name})` : metric.name)),
    ...(metric.description ? [printable(metric.description)] : []),
    ...(broken
      ? [bad(`Broken: ${printable(broken.message)}`), ...(broken.fix ? [`→ ${printable(broken.fix)}`] : [])]
      : []),
    "",
    ...table(facts),
    "",
    ...printable(metric.text).split("\n"),
    ...section(dim("Measures"), measures.map(measureRow)),
    ...section(
      dim("Segments"),
      segments.map(({ field, condition }) => [field, oneLine(condition)]),
    ),
    ...section(dim("Group and filter by"), fields.map(fieldRow)),
  ];
}

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : ["", title, ...table(rows).map((line) => `  ${line}`)];

function measureRow({ entity, name, formula, where, unit }: MetricDefinition["measures"][number]): string[] {
  const condition = where.length > 0 ? ` where ${where.join(" and ")}` : "";
  return [`${entity}.${name}`, `${oneLine(formula + condition)}${unit ? ` in ${unit}` : ""}`];
}

function fieldRow({ field, type, granularities, values }: MetricField): string[] {
  const shown = values?.slice(0, SHOWN_VALUES).map(String).join(", ");
  const more = values && values.length > SHOWN_VALUES ? ", …" : "";
  return [field, granularities ? `${type}: ${granularities.join(", ")}` : type, shown ? oneLine(shown + more) : ""];
}

export function describeAnswer({ bold, dim }: Style, { columns, rows }: MetricAnswer): string[] {
  const isNumber = columns.map(({ type }) => type === "number");
  const digits = columns.map((_, at) => fractionDigits(rows.map((row) => row[at]!)));
  const cells = rows.map((row) => row.map((value, at) => cell(value, digits[at]!)));
  const heads = columns.map(({ name, unit }) => (unit ? `${name} (${unit})` : name));
  // Numbers are aligned to the right, so that their digits line up.
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]!.length)));
  const aligned = [heads, ...cells].map((row) =>
    row.map((text, at) => (isNumber[at] ? text.padStart(widths[at]!) : text)),
  );
  const [head = [], ...body] = aligned;
  return [
    ...table([head.map((text) => bold(text)), ...body]),
    dim(`${rows.length} ${rows.length === 1 ? "row" : "rows"}`),
  ];
}

type Cell = MetricAnswer["rows"][number][number];

/** One number of digits for a column, so that its values can be compared. */
function fractionDigits(values: readonly Cell[]): number {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.every(Number.isInteger)) return 0;
  return numbers.some((value) => Math.abs(value) >= 10) ? 2 : 4;
}

function cell(value: Cell, digits: number): string {
  if (value === null) return "null";
  if (typeof value !== "number") return oneLine(String(value));
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function listProblems({ bad, good, bold }: Style, problems: readonly MetricProblem[], count: number): string[] {
  if (problems.length === 0) return [good(`${count} ${count === 1 ? "metric" : "metrics"}, no problems.`)];
  return problems.flatMap(({ path, name, message, fix }) => [
    `${bad("problem")} ${bold(path)}${name === undefined ? "" : ` ${name}`}: ${printable(message)}`,
    ...(fix === undefined ? [] : [`  → ${printable(fix)}`]),
  ]);
}

function oneLine(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ").trim();
  return clip(line, CELL);
}
