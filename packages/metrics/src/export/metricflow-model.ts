import { type Expression, referencesOf } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { aggregateOf, type MeasureEntry, type MetricsFile } from "../model/metrics-file.ts";
import type { Entity, Model } from "../model/model.ts";
import { cannotHold, conditionsOf, type ExportReport, expressionSql, onlyWhere } from "./export-result.ts";

export interface ExportedModel {
  readonly document: { readonly measures: Record<string, unknown>[] };
  readonly names: ReadonlyMap<string, string>;
  /** Conditions of measures that only a filter can hold. */
  readonly filters: ReadonlyMap<string, readonly Expression[]>;
}

/** The operand of a count of rows. */
export const ONE: Expression = { kind: "number", value: "1" };

export const isOwn = (expression: Expression): boolean =>
  referencesOf(expression).every(({ path }) => path.length === 0);

/** One entity as a semantic model. */
export function semanticModel(
  file: MetricsFile,
  names: ReadonlyMap<string, string>,
  model: Model,
  report: ExportReport,
): ExportedModel {
  const entity = model.entities.get(file.entity);
  const name = file.entity;
  const entities = entity ? entitiesOf(file, entity, model, report) : [];
  if (!entity) report.drop(`entity ${name}`, "It is broken.");
  const dimensions = dimensionsOf(file, report);
  for (const segment of Object.keys(file.segments ?? {})) {
    report.drop(`segment ${name}.${segment}`, "MetricFlow has no segments. Metrics that use it hold its condition.");
  }
  const filters = new Map<string, readonly Expression[]>();
  const measures = Object.entries(file.measures ?? {}).flatMap(([measure, entry]) => {
    const exported = report.attempt(`measure ${name}.${measure}`, () => {
      filters.set(
        measure,
        conditionsOf(file, entry.where).filter((condition) => !isOwn(condition)),
      );
      return measureOf(names.get(measure)!, entry, file, dimensions, entities);
    });
    return exported ?? [];
  });
  const hasTime = dimensions.some((dimension) => dimension["name"] === file.time);
  return {
    names,
    filters,
    document: {
      name,
      ...(file.description !== undefined && { description: file.description }),
      model: `ref('${file.table.split(".").at(-1)}')`,
      ...(hasTime && { defaults: { agg_time_dimension: file.time } }),
      ...(file.grain.length > 1 && { primary_entity: name }),
      entities,
      dimensions,
      measures,
    } as ExportedModel["document"],
  };
}

function entitiesOf(
  file: MetricsFile,
  entity: Entity,
  model: Model,
  report: ExportReport,
): { name: string; type: string; expr: string }[] {
  const { entity: name, grain } = file;
  const found = grain.length === 1 ? [{ name, type: "primary", expr: grain[0]! }] : [];
  if (grain.length > 1) report.drop(`entity ${name}: grain`, "MetricFlow has no keys of several columns.");
  for (const role of entity.roles) {
    const item = `role ${name}.${role.name || role.to}`;
    if (role.name === "") report.drop(item, "Several joins lead there, and this one has no name.");
    else if (role.columns.length > 1) report.drop(item, "MetricFlow has no joins by several columns.");
    else if (role.to === name) report.drop(item, "MetricFlow has no joins of a table with itself.");
    else if (role.when) report.drop(item, "The join has a condition.");
    else found.push({ name: role.name, type: "foreign", expr: role.columns[0]! });
  }
  // Other entities refer to this one by names of their own.
  for (const other of model.entities.values()) {
    for (const role of other.roles) {
      const isNamed =
        role.to === name && role.name !== "" && role.from !== name && role.columns.length === 1 && !role.when;
      if (!isNamed || found.some((known) => known.name === role.name)) continue;
      found.push({ name: role.name, type: "unique", expr: role.toColumns[0]! });
    }
  }
  return found;
}

function dimensionsOf(file: MetricsFile, report: ExportReport): Record<string, unknown>[] {
  return Object.entries(file.dimensions ?? {}).flatMap(([name, { expr, time, zone, label, description, aka }]) => {
    const item = `dimension ${file.entity}.${name}`;
    const dimension = report.attempt(item, () => {
      const expression = expr === undefined ? undefined : parseExpression(expr);
      if (expression && !isOwn(expression)) throw cannotHold("It is a column of another entity.");
      return {
        name,
        type: time ? "time" : "categorical",
        ...(expression && { expr: expressionSql(expression) }),
        ...(time && { type_params: { time_granularity: time } }),
        ...(label !== undefined && { label }),
        ...(description !== undefined && { description }),
        ...(aka !== undefined && aka.length > 0 && { config: { meta: { synonyms: aka } } }),
      };
    });
    if (dimension && zone !== undefined) report.drop(`${item}: zone`, `MetricFlow counts periods without ${zone}.`);
    return dimension ? [dimension] : [];
  });
}

function measureOf(
  name: string,
  entry: MeasureEntry,
  file: MetricsFile,
  dimensions: readonly Record<string, unknown>[],
  entities: readonly { name: string; expr: string }[],
): Record<string, unknown> {
  const { aggregate, expression: operand = ONE } = aggregateOf(entry);
  if (!isOwn(operand)) throw cannotHold("It aggregates columns of another entity.");
  const time = entry.time ?? file.time;
  if (time !== undefined && !dimensions.some((dimension) => dimension["name"] === time)) {
    throw cannotHold(`Its time ${time} cannot be held.`);
  }
  const where = conditionsOf(file, entry.where).filter(isOwn);
  return {
    name,
    agg: aggregate,
    expr: expressionSql(onlyWhere(operand, where)),
    ...(entry.time !== undefined && { agg_time_dimension: entry.time }),
    ...(entry.over && { non_additive_dimension: nonAdditive(entry.over, time, entities) }),
    ...(entry.description !== undefined && { description: entry.description }),
    ...(entry.unit !== undefined && { config: { meta: { unit: entry.unit } } }),
  };
}

function nonAdditive(
  over: NonNullable<MeasureEntry["over"]>,
  time: string | undefined,
  entities: readonly { name: string; expr: string }[],
): object {
  if (over.time === "average") throw cannotHold("MetricFlow has no average over times.");
  const groupings = (over.per ?? []).map((text) => {
    const entity = entities.find(({ expr }) => expr === text);
    if (!entity) throw cannotHold(`Its rows are kept per ${text}, which is no entity.`);
    return entity.name;
  });
  return {
    name: time,
    window_choice: over.time === "last" ? "max" : "min",
    ...(groupings.length > 0 && { window_groupings: groupings }),
  };
}
