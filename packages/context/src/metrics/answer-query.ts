import type { Connection, Value } from "@tandem/connectors";
import { compileQuery, findDimension, metricParts } from "@tandem/metrics";
import type { MetricAnswer, MetricQuery } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import { definitionVersions } from "../metric-definitions/definition-version.ts";
import { metricsOf, unitOf } from "../metric-definitions/describe-metric.ts";
import type { ConnectionMetrics } from "../metric-definitions/metrics-reader.ts";

/** Limits of a query for a person or an agent. */
export const QUERY_LIMITS = { maxRows: 1_000, maxBytes: 256 * 1_024 } as const;

/** Compiles a query, and runs it with the limits of `sql_query`. Without `open` it is only compiled. */
export async function answerQuery({
  connected,
  query: asked,
  now,
  folder,
  open,
  signal,
}: {
  connected: ConnectionMetrics;
  query: MetricQuery;
  now: Date;
  folder: ContextFolder;
  open: (() => Promise<Connection>) | undefined;
  signal: AbortSignal;
}): Promise<MetricAnswer> {
  const query = { ...asked, limit: Math.min(asked.limit, QUERY_LIMITS.maxRows) };
  const { model, connection } = connected;
  const compiled = compileQuery(model, query, now);
  const answer = {
    connection,
    columns: describeColumns(connected, query, compiled.columns),
    sql: compiled.sql,
    plan: [...compiled.plan],
    definitions: await definitionsOf(connected, compiled.metrics, folder),
    warnings: [...compiled.warnings],
  };
  if (!open) return { ...answer, rows: [], truncated: false };
  const started = performance.now();
  const database = await open();
  // One row more tells whether the limit cut any off.
  const { sql } = compileQuery(model, { ...query, limit: query.limit + 1 }, now);
  const { rows, truncated } = await database.query(sql, {
    maxRows: query.limit + 1,
    maxBytes: QUERY_LIMITS.maxBytes,
    signal,
  });
  return {
    ...answer,
    rows: rows
      .slice(0, query.limit)
      .map((row) => row.map((value, at) => plainNumber(value, compiled.columns[at]!.type))),
    truncated: truncated || rows.length > query.limit,
    elapsed_ms: Math.round(performance.now() - started),
  };
}

function describeColumns(
  connected: ConnectionMetrics,
  query: MetricQuery,
  columns: ReturnType<typeof compileQuery>["columns"],
): MetricAnswer["columns"] {
  const metrics = metricsOf(connected);
  return columns.map(({ name, kind, type }) => {
    const found = kind === "metric" ? metrics.find((each) => each.name === name && each.metric) : undefined;
    const label = kind === "dimension" ? findDimension(connected.model, query.metrics, name).label : found?.entry.label;
    const unit = found && unitOf(connected, name, found.entry, found.file);
    return { name, kind, type, ...(label !== undefined && { label }), ...(unit !== undefined && { unit }) };
  });
}

/** The files behind the metrics and the metrics that they use. */
async function definitionsOf(
  connected: ConnectionMetrics,
  names: readonly string[],
  folder: ContextFolder,
): Promise<MetricAnswer["definitions"]> {
  const all = metricsOf(connected);
  const used = new Set<string>();
  const add = (name: string): void => {
    if (used.has(name)) return;
    used.add(name);
    metricParts(connected.model, name).uses.forEach(add);
  };
  names.forEach(add);
  const found = [...used].flatMap((name) => all.find((each) => each.name === name && each.metric) ?? []);
  const files = [...new Map(found.map(({ file }) => [file.path, file])).values()];
  const versions = await definitionVersions(folder, files);
  return found.map(({ name, file: { path } }) => ({ metric: name, path, version: versions.get(path)! }));
}

/** Databases return decimals as text. Those that a number holds exactly become numbers, so that all databases agree. */
function plainNumber(value: Value, type: string): Value {
  if (type !== "number" || typeof value !== "string" || !/^-?\d+(\.\d+)?$/.test(value)) return value;
  const short = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  const number = Number(value);
  return String(number) === short || (number === 0 && /^-?0$/.test(short)) ? number : value;
}
