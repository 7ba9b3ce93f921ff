import type { TableName } from "@tandem/connectors";
import { tableText } from "../model/catalogued-table.ts";
import { inputsOf } from "../build/check-model.ts";
import type { Entity, Measure, Model } from "../model/model.ts";
import { entitySql } from "../plan/dimension-sql.ts";
import { FactScope } from "../plan/fact-scope.ts";
import { type Leaf, Leaves } from "../plan/leaf.ts";

/** The parts from which a metric is computed. */
export interface MetricParts {
  readonly measures: readonly { readonly entity: Entity; readonly measure: Measure }[];
  /** `schema.table` of every table whose rows it needs. */
  readonly tables: readonly string[];
  /** Other metrics. */
  readonly uses: readonly string[];
}

/** Throws for a metric that does not exist or is broken. */
export function metricParts(model: Model, name: string): MetricParts {
  const leaves = leavesOf(model, name);
  const measures = new Map(
    leaves.map(({ entity, measure }) => [`${entity.name}.${measure.name}`, { entity, measure }]),
  );
  const tables = new Set(leaves.flatMap((leaf) => tablesOf(model, leaf).map(tableText)));
  return {
    measures: [...measures.values()],
    tables: [...tables],
    uses: [...new Set(inputsOf(model.metrics.get(name)!))],
  };
}

export function leavesOf(model: Model, name: string): readonly Leaf[] {
  const leaves = new Leaves(model);
  leaves.value(name, "result");
  return leaves.all;
}

function tablesOf(model: Model, { entity, measure, where }: Leaf): TableName[] {
  const scope = new FactScope(model.entities, entity);
  const expressions = [measure.expression, ...measure.where, ...where, ...(measure.over?.per ?? [])];
  for (const expression of expressions) if (expression) entitySql(scope, [], expression);
  return [scope.from, ...scope.joins.map(({ source }) => source)].flatMap((source) =>
    source.kind === "table" ? [source.table] : [],
  );
}
