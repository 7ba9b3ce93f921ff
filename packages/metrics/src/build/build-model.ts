import { parseExpression } from "../expression/parse-expression.ts";
import { type Expression, reference } from "../expression/expression.ts";
import { invalid } from "../metric-error.ts";
import { attemptIn } from "./attempt-in.ts";
import { type CataloguedTable, isUnique, tableText } from "../model/catalogued-table.ts";
import { checkModel } from "./check-model.ts";
import type { Granularity } from "../sql/granularity.ts";
import { aggregateOf, type MeasureEntry, type MetricEntry, type MetricsFile } from "../model/metrics-file.ts";
import type {
  BrokenDefinition,
  Dimension,
  Entity,
  Measure,
  Metric,
  Model,
  ModelInput,
  Offset,
} from "../model/model.ts";
import { linkEntities } from "./link-entities.ts";

/** Checks definitions against the catalogue. Parts that cannot be used are left out and listed in `broken`. */
export function buildModel({ dialect, files, tables }: ModelInput): Model {
  const broken: BrokenDefinition[] = [];
  const entities = new Map<string, Entity>();
  const metrics = new Map<string, Metric>();
  for (const file of files) {
    const attempt = <T>(name: string | undefined, build: () => T): T | undefined =>
      attemptIn(broken, file.entity, name, build);
    const entity = attempt(undefined, () => readEntity(file, tables, entities, attempt));
    if (!entity) continue;
    entities.set(entity.name, entity);
    for (const [name, entry] of Object.entries(file.metrics ?? {})) {
      attempt(name, () => {
        const earlier = metrics.get(name);
        if (earlier)
          throw invalid(`The metric ${name} is defined in the files of ${earlier.entity} and of ${entity.name}.`);
        metrics.set(name, readMetric(name, entity, entry));
      });
    }
  }
  const linked = linkEntities(entities, files, broken);
  return checkModel({ dialect, entities: linked, metrics, broken });
}

type Attempt = <T>(name: string | undefined, build: () => T) => T | undefined;

function readEntity(
  file: MetricsFile,
  tables: readonly CataloguedTable[],
  earlier: ReadonlyMap<string, Entity>,
  attempt: Attempt,
): Entity {
  const table = tables.find((known) => tableText(known) === file.table);
  if (!table) throw invalid(`The catalogue has no table ${file.table}.`, "Scan the database, or correct the name.");
  if (earlier.has(file.entity)) throw invalid(`Two files define the entity ${file.entity}.`);
  const twin = [...earlier.values()].find((entity) => entity.table === table);
  if (twin) throw invalid(`${file.table} is already the table of the entity ${twin.name}.`);
  const missing = file.grain.find((column) => !table.columns.some(({ name }) => name === column));
  if (missing !== undefined) throw invalid(`${file.table} has no column ${missing}.`);
  if (!isUnique(table, file.grain)) {
    throw invalid(
      `(${file.grain.join(", ")}) is not a verified key of ${file.table}.`,
      "Use a key that the catalogue lists, or scan the database again.",
    );
  }
  const eachOf = <Entry, Read>(
    entries: Record<string, Entry> | undefined,
    read: (name: string, entry: Entry) => Read,
  ) =>
    new Map(
      Object.entries(entries ?? {}).flatMap(([name, entry]) => {
        const value = attempt(name, () => read(name, entry));
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  const dimensions = eachOf(file.dimensions, (name, entry): Dimension => {
    const { expr, aka = [], ...rest } = entry;
    return { name, aka, ...rest, expression: expr === undefined ? reference(name) : parseExpression(expr) };
  });
  if (file.time !== undefined && !dimensions.get(file.time)?.time) {
    throw invalid(`The dimension ${file.time} of ${file.entity} is no time.`, "Give it `time`, such as `time: day`.");
  }
  const segments = eachOf(file.segments, (_, text) => parseExpression(text));
  return {
    name: file.entity,
    ...(file.description !== undefined && { description: file.description }),
    table,
    grain: file.grain,
    roles: [],
    reverse: [],
    dimensions,
    segments,
    measures: eachOf(file.measures, (name, entry) => readMeasure(name, entry, segments, file.time)),
    ...(file.time !== undefined && { time: file.time }),
  };
}

function readMeasure(
  name: string,
  entry: MeasureEntry,
  segments: ReadonlyMap<string, Expression>,
  entityTime: string | undefined,
): Measure {
  const { aggregate, expression } = aggregateOf(entry);
  const time = entry.time ?? entityTime;
  if (entry.over && time === undefined) throw invalid(`The measure ${name} has \`over\` and no time dimension.`);
  if (entry.over && aggregate !== "sum" && aggregate !== "count") {
    throw invalid(`The measure ${name} has \`over\`, which applies to sum and count only.`);
  }
  return {
    name,
    aggregate,
    ...(expression && { expression }),
    where: readConditions(entry.where, segments),
    ...(time !== undefined && { time }),
    ...(entry.over && { over: { time: entry.over.time, per: (entry.over.per ?? []).map(parseExpression) } }),
    ...(entry.unit !== undefined && { unit: entry.unit }),
  };
}

const readConditions = (
  texts: readonly string[] | undefined,
  segments: ReadonlyMap<string, Expression>,
): readonly Expression[] => (texts ?? []).map((text) => segments.get(text.trim()) ?? parseExpression(text));

function readMetric(name: string, entity: Entity, entry: MetricEntry): Metric {
  const { label, description, owner, page, unit, aka = [] } = entry;
  const base = { name, entity: entity.name, about: { label, description, owner, page, unit, aka } };
  if ("measure" in entry) {
    return { ...base, kind: "simple", measure: entry.measure, where: readConditions(entry.where, entity.segments) };
  }
  if ("ratio" in entry) {
    const [numerator, denominator] = entry.ratio;
    return { ...base, kind: "ratio", numerator, denominator };
  }
  if ("derived" in entry) {
    const inputs = Object.entries(entry.with ?? {}).map(
      ([alias, { metric, offset }]) => [alias, { metric, ...(offset && { offset: readPeriod(offset) }) }] as const,
    );
    return { ...base, kind: "derived", expression: parseExpression(entry.derived), inputs: new Map(inputs) };
  }
  if (entry.to && entry.window) throw invalid(`The metric ${name} has both \`to\` and \`window\`.`);
  return {
    ...base,
    kind: "cumulative",
    metric: entry.cumulative,
    ...(entry.to && { to: entry.to }),
    ...(entry.window && { window: readPeriod(entry.window) }),
  };
}

function readPeriod(text: string): Offset {
  const [count, unit] = text.split(" ") as [string, string];
  return { count: Number(count), unit: unit.replace(/s$/, "") as Granularity };
}
