import { metricQuery, type MetricFilter, type MetricQuery } from "@tandem/protocol";
import { compileQuery } from "../../compile-query.ts";
import { attempt, MetricError } from "../../metric-error.ts";
import type { Model } from "../../model/model.ts";
import { aggregateCalls } from "../tree/aggregate-calls.ts";
import { conditionsOf, definitionForm } from "../deviation/definition-form.ts";
import { compareWithMetrics } from "../deviation/find-deviations.ts";
import { statementForm } from "../deviation/statement-form.ts";
import { readEquality } from "../shape/equality.ts";
import type { SelectRelations } from "../shape/select-relations.ts";
import { conjunctsOf, kindOf, listOf, type SqlNode } from "../tree/sql-node.ts";

const OPERATORS = { eq: "=", neq: "!=", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

/**
 * The metric query that answers the same question as a SELECT. Undefined unless every aggregate is a metric, every group a
 * dimension and every condition a filter.
 */
export function metricInstead(select: SqlNode, scope: SelectRelations, model: Model): MetricQuery | undefined {
  const calls = aggregateCalls([select["expressions"], select["having"]]);
  const equal = compareWithMetrics(select, scope, model).filter(({ differences }) => differences.length === 0);
  if (calls.length === 0 || equal.length !== calls.length || select["having"] || select["distinct"] === true)
    return undefined;
  const metrics = [...new Set(equal.map(({ metric }) => metric))];
  const outputs = listOf(select["expressions"]).map((node) =>
    kindOf(node).kind === "alias" ? kindOf(node).body["this"] : node,
  );
  const groups = listOf(kindOf({ group: select["group_by"] }).body["expressions"]).map((node) => {
    const { kind, body } = kindOf(node);
    return fieldOf(kind === "literal" ? outputs[Number(body["value"]) - 1] : node, scope, model);
  });
  const filters = filtersOf(select, scope, model, metrics);
  if (!filters || !groups.every((field) => field !== undefined)) return undefined;
  const query = metricQuery.parse({ metrics, by: groups, where: filters });
  return attempt(() => compileQuery(model, query, new Date())) instanceof MetricError ? undefined : query;
}

/** The dimension that shows a stored column unchanged. */
function fieldOf(node: unknown, scope: SelectRelations, model: Model): string | undefined {
  const { kind, body } = kindOf(node);
  if (kind !== "column" || !scope.isKnown(body)) return undefined;
  const form = statementForm(node, scope);
  for (const entity of model.entities.values()) {
    for (const { name, time, expression } of entity.dimensions.values()) {
      if (form && time === undefined && definitionForm(expression, entity, model)?.text === form.text) {
        return `${entity.name}.${name}`;
      }
    }
  }
  return undefined;
}

function filtersOf(
  select: SqlNode,
  scope: SelectRelations,
  model: Model,
  metrics: readonly string[],
): MetricFilter[] | undefined {
  const on = listOf(select["joins"]).flatMap((join) => conjunctsOf(kindOf({ join }).body["on"]));
  const isJoin = (condition: unknown): boolean => readEquality(condition, scope)[0]?.right !== undefined;
  if (!on.every(isJoin)) return undefined;
  const own = ownConditions(metrics, model);
  const written = conjunctsOf(kindOf({ where: select["where_clause"] }).body["this"]);
  const filters = written.map((condition): MetricFilter | "own" | undefined => {
    if (isJoin(condition) || own.has(statementForm(condition, scope)?.text ?? "")) return "own";
    const { kind, body } = kindOf(condition);
    const op = OPERATORS[kind as keyof typeof OPERATORS];
    const literal = kindOf(body["right"]);
    const field = op && literal.kind === "literal" ? fieldOf(body["left"], scope, model) : undefined;
    if (field === undefined) return undefined;
    const value =
      literal.body["literal_type"] === "number" ? Number(literal.body["value"]) : String(literal.body["value"]);
    return { field, op, value };
  });
  return filters.every((one) => one !== undefined) ? filters.filter((one) => one !== "own") : undefined;
}

/** Conditions that all of the metrics have. */
function ownConditions(metrics: readonly string[], model: Model): ReadonlySet<string> {
  const each = metrics.map((name) => {
    const metric = model.metrics.get(name);
    const entity = metric && model.entities.get(metric.entity);
    const measure = metric?.kind === "simple" ? entity?.measures.get(metric.measure) : undefined;
    if (metric?.kind !== "simple" || !entity || !measure) return new Set<string>();
    const conditions = [...measure.where, ...metric.where].flatMap(conditionsOf);
    return new Set(conditions.flatMap((condition) => definitionForm(condition, entity, model)?.text ?? []));
  });
  return new Set([...(each[0] ?? [])].filter((text) => each.every((texts) => texts.has(text))));
}
