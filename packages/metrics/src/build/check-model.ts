import { referencesOf } from "../expression/expression.ts";
import { invalid } from "../metric-error.ts";
import { bucketSql, entitySql, timeSql } from "../plan/dimension-sql.ts";
import { FactScope } from "../plan/fact-scope.ts";
import { type SqlType, typeOf } from "../sql/sql.ts";
import { zoneOffsets } from "../sql/zone-offsets.ts";
import { attemptIn } from "./attempt-in.ts";
import type { BrokenDefinition, Entity, Measure, Metric, Model } from "../model/model.ts";

/** Removes definitions with wrong types or unknown names, and those that depend on them. */
export function checkModel(model: Model): Model {
  const broken = [...model.broken];
  const entities = new Map(
    [...model.entities].map(([name, entity]) => [name, checkEntity(entity, model, broken)] as const),
  );
  const metrics = new Map(model.metrics);
  // A metric that is removed can break others.
  for (let before = -1; before !== metrics.size;) {
    before = metrics.size;
    for (const metric of metrics.values()) {
      const isUsable = attemptIn(broken, metric.entity, metric.name, () => {
        checkMetric(metric, entities, metrics);
        return true;
      });
      if (!isUsable) metrics.delete(metric.name);
    }
  }
  return { ...model, entities, metrics, broken };
}

function checkEntity(entity: Entity, { entities, dialect }: Model, broken: BrokenDefinition[]): Entity {
  const scope = new FactScope(entities, entity);
  const usable = <Entry>(entries: ReadonlyMap<string, Entry>, check: (entry: Entry) => void): Map<string, Entry> =>
    new Map(
      [...entries].filter(([name, entry]) =>
        attemptIn(broken, entity.name, name, () => {
          check(entry);
          return true;
        }),
      ),
    );
  const dimensions = usable(entity.dimensions, (dimension) => {
    if (dimension.zone !== undefined) zoneOffsets(dimension.zone);
    if (!dimension.time) return void entitySql(scope, [], dimension.expression);
    bucketSql(timeSql(scope, [], dimension, dialect), dimension, dimension.time);
  });
  const segments = usable(entity.segments, (segment) => isOfType(scope, segment, "boolean"));
  const measures = usable(entity.measures, (measure) => checkMeasure(measure, scope, dimensions));
  return { ...entity, dimensions, segments, measures };
}

function checkMeasure(measure: Measure, scope: FactScope, dimensions: Entity["dimensions"]): void {
  for (const condition of measure.where) isOfType(scope, condition, "boolean");
  for (const expression of measure.over?.per ?? []) entitySql(scope, [], expression);
  if (measure.time !== undefined && !dimensions.get(measure.time)?.time) {
    throw invalid(`The measure ${measure.name} names the time ${measure.time}, which is no usable time dimension.`);
  }
  if (!measure.expression) return;
  const type = typeOf(entitySql(scope, [], measure.expression));
  if (["sum", "average", "median"].includes(measure.aggregate) && type !== "number") {
    throw invalid(
      `The measure ${measure.name} is the ${measure.aggregate} of a ${type}.`,
      "Use an expression that is a number.",
    );
  }
  if (["min", "max"].includes(measure.aggregate) && type === "boolean") {
    throw invalid(`The measure ${measure.name} is the ${measure.aggregate} of a boolean.`);
  }
}

function isOfType(scope: FactScope, expression: Measure["where"][number], wanted: SqlType): void {
  const type = typeOf(entitySql(scope, [], expression));
  if (type !== wanted) throw invalid(`A condition is a ${type}; it must be a ${wanted}.`);
}

function checkMetric(metric: Metric, entities: Model["entities"], metrics: Model["metrics"]): void {
  if (metric.kind === "simple") {
    const entity = entities.get(metric.entity);
    if (!entity?.measures.has(metric.measure)) {
      throw invalid(
        `The metric ${metric.name} needs the measure ${metric.measure}, which ${metric.entity} does not have or which is broken.`,
      );
    }
    const scope = new FactScope(entities, entity);
    for (const condition of metric.where) isOfType(scope, condition, "boolean");
    return;
  }
  for (const name of inputsOf(metric)) {
    if (!metrics.has(name))
      throw invalid(`The metric ${metric.name} needs the metric ${name}, which does not exist or is broken.`);
  }
  const cycle = findCycle(metric.name, metrics, []);
  if (cycle) throw invalid(`The metric ${metric.name} is defined by itself: ${cycle.join(" → ")}.`);
  if (metric.kind === "cumulative" && metrics.get(metric.metric)!.kind !== "simple") {
    throw invalid(`The metric ${metric.name} accumulates ${metric.metric}, which is not a simple metric.`);
  }
  if (metric.kind === "cumulative") checkCumulative(metric, entities, metrics);
}

function checkCumulative(
  metric: Extract<Metric, { kind: "cumulative" }>,
  entities: Model["entities"],
  metrics: Model["metrics"],
): void {
  const input = metrics.get(metric.metric)!;
  if (input.kind !== "simple") return;
  const measure = entities.get(input.entity)!.measures.get(input.measure)!;
  if (measure.over) {
    throw invalid(`The metric ${metric.name} accumulates ${metric.metric}, whose periods cannot be added up.`);
  }
  if (measure.time === undefined)
    throw invalid(`The metric ${metric.name} accumulates ${metric.metric}, which has no time.`);
}

/** Names of the metrics that another one needs. */
export function inputsOf(metric: Metric): string[] {
  switch (metric.kind) {
    case "simple":
      return [];
    case "ratio":
      return [metric.numerator, metric.denominator];
    case "cumulative":
      return [metric.metric];
    case "derived":
      return referencesOf(metric.expression).map(({ path, name }) => {
        if (path.length > 0) throw invalid(`${[...path, name].join(".")} in ${metric.name} is no metric.`);
        return metric.inputs.get(name)?.metric ?? name;
      });
  }
}

function findCycle(name: string, metrics: Model["metrics"], path: readonly string[]): string[] | undefined {
  if (path.includes(name)) return [...path, name];
  const metric = metrics.get(name);
  for (const input of metric ? inputsOf(metric) : []) {
    const cycle = findCycle(input, metrics, [...path, name]);
    if (cycle) return cycle;
  }
  return undefined;
}
