import { AGGREGATE_KEYS, type Metric, metricParts, type MetricsFile } from "@tandem/metrics";
import { type MetricDefinition, metricFormula, type MetricSummary } from "@tandem/protocol";
import { isMap, isNode, isPair, type Node } from "yaml";
import type { ConnectionMetrics, DefinitionFile } from "./metrics-reader.ts";

type MetricEntry = NonNullable<MetricsFile["metrics"]>[string];

/** A metric of a file, usable or broken. */
export interface FoundMetric {
  readonly name: string;
  readonly entry: MetricEntry;
  readonly file: DefinitionFile;
  readonly entity: string;
  /** Undefined if it is broken. */
  readonly metric: Metric | undefined;
}

/** All metrics of a connection's valid files. */
export const metricsOf = ({ files, model }: ConnectionMetrics): FoundMetric[] =>
  files.flatMap((file) => {
    if (!file.read.success) return [];
    const { entity, metrics = {} } = file.read.value;
    return Object.entries(metrics).map(([name, entry]) => {
      const metric = model.metrics.get(name);
      return { name, entry, file, entity, metric: metric?.entity === entity ? metric : undefined };
    });
  });

export function summarise(connected: ConnectionMetrics, found: FoundMetric): MetricSummary {
  const { name, entry, entity, file, metric } = found;
  const { label, description, owner, aka = [], page } = entry;
  const unit = unitOf(connected, name, entry, file);
  return {
    name,
    connection: connected.connection,
    entity,
    kind: kindOf(entry),
    ...(label !== undefined && { label }),
    ...(description !== undefined && { description }),
    ...(owner !== undefined && { owner }),
    ...(unit !== undefined && { unit }),
    aka,
    ...(page !== undefined && { page }),
    ...(!metric && { broken: brokenBecause(connected, found) }),
  };
}

function kindOf(entry: MetricEntry): MetricSummary["kind"] {
  if ("measure" in entry) return "simple";
  if ("ratio" in entry) return "ratio";
  return "derived" in entry ? "derived" : "cumulative";
}

/** Its own unit, or that of the measure behind it. */
export function unitOf(
  { files }: Pick<ConnectionMetrics, "files">,
  name: string,
  entry: MetricEntry,
  file: DefinitionFile,
): string | undefined {
  if (entry.unit !== undefined) return entry.unit;
  if ("measure" in entry) return file.read.success ? file.read.value.measures?.[entry.measure]?.unit : undefined;
  if (!("cumulative" in entry) || entry.cumulative === name) return undefined;
  for (const other of files) {
    const input = other.read.success ? other.read.value.metrics?.[entry.cumulative] : undefined;
    if (input && "measure" in input) return unitOf({ files }, entry.cumulative, input, other);
  }
  return undefined;
}

type Problem = NonNullable<MetricSummary["broken"]>;

/** Why a metric cannot be used: the part that it needs, and the root cause. */
export function brokenBecause(connected: ConnectionMetrics, found: FoundMetric): Problem {
  const cause = causeOf(connected, found);
  const { message, fix } = rootOf(connected, found, []);
  return { message: cause.needs === undefined ? message : `${cause.needs} is broken: ${message}`, ...(fix && { fix }) };
}

interface Cause {
  problem: Problem;
  /** The measure or metric that is broken instead. */
  needs?: string;
  input?: FoundMetric;
}

function causeOf(connected: ConnectionMetrics, { name, entity, entry }: FoundMetric): Cause {
  const parts = connected.model.broken.filter((part) => part.entity === entity);
  const whole = parts.find((part) => part.name === undefined);
  if (whole) return { problem: whole };
  const own = parts.find((part) => part.name === name);
  const problem = own ?? { message: `Another file defines ${name}, too.` };
  const measure = "measure" in entry ? parts.find((part) => part.name === entry.measure) : undefined;
  if (measure && measure !== own) return { problem: measure, needs: `The measure ${measure.name}` };
  const needed = inputsOf(entry);
  const input = metricsOf(connected).find((other) => !other.metric && other.name !== name && needed.has(other.name));
  return input ? { problem, needs: `The metric ${input.name}`, input } : { problem };
}

function rootOf(connected: ConnectionMetrics, found: FoundMetric, seen: readonly string[]): Problem {
  const { problem, input } = causeOf(connected, found);
  // Metrics can be defined by each other, which is their own problem.
  return input && !seen.includes(input.name) ? rootOf(connected, input, [...seen, found.name]) : problem;
}

function inputsOf(entry: MetricEntry): ReadonlySet<string> {
  if ("ratio" in entry) return new Set(entry.ratio);
  if ("cumulative" in entry) return new Set([entry.cumulative]);
  if (!("derived" in entry)) return new Set();
  const named = Object.entries(entry.with ?? {}).map(([alias, { metric }]) => [alias, metric] as const);
  const aliases = new Map(named);
  return new Set((entry.derived.match(/[a-z][a-z0-9_]*/g) ?? []).map((word) => aliases.get(word) ?? word));
}

type Described = Pick<MetricDefinition, "path" | "text" | "formula" | "tables" | "uses" | "measures" | "segments">;

/** The parts of a definition in the files. A broken metric has only its text and formula. */
export function describeMetric(
  { files, model }: ConnectionMetrics,
  { name, entry, file, metric }: FoundMetric,
): Described {
  const own = file.read.success ? file.read.value.measures : undefined;
  const written = { path: file.path, text: definitionText(file, name), formula: metricFormula(entry, own ?? {}) };
  if (!metric) return { ...written, tables: [], uses: [], measures: [], segments: [] };
  const { measures, tables, uses } = metricParts(model, name);
  const entities = new Map(
    files.flatMap(({ read }) => (read.success ? [[read.value.entity, read.value] as const] : [])),
  );
  return {
    ...written,
    tables: [...tables],
    uses: [...uses],
    measures: measures.map(({ entity, measure }) => {
      const entry = entities.get(entity.name)!.measures![measure.name]!;
      const aggregate = AGGREGATE_KEYS.find((key) => entry[key] !== undefined)!;
      return {
        entity: entity.name,
        name: measure.name,
        formula: `${aggregate}(${entry[aggregate]})`,
        where: entry.where ?? [],
        ...(entry.unit !== undefined && { unit: entry.unit }),
      };
    }),
    segments: [...new Set(measures.map(({ entity }) => entity))].flatMap(({ name: entity, segments }) =>
      [...segments.keys()].map((segment) => ({
        field: `${entity}.${segment}`,
        condition: entities.get(entity)!.segments![segment]!,
      })),
    ),
  };
}

/** The lines of a metric in its file, without their common indentation. */
function definitionText({ text, read }: DefinitionFile, name: string): string {
  const metrics: unknown = read.success ? read.document.get("metrics", true) : undefined;
  const pair = isMap(metrics) ? metrics.items.find(({ key }) => String(key) === name) : undefined;
  const start = isPair(pair) ? startOf(pair.key) : undefined;
  if (start === undefined || !isPair(pair)) return "";
  const end = isNode(pair.value) ? (pair.value.range?.[1] ?? start) : start;
  const lineStart = text.lastIndexOf("\n", start) + 1;
  const indentation = text.slice(lineStart, start);
  const lines = text.slice(lineStart, end).trimEnd().split("\n");
  return lines.map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line)).join("\n");
}

const startOf = (key: unknown): number | undefined => (isNode(key) ? (key as Node).range?.[0] : undefined);
