import { type ColumnReference, type Expression, mapReferences } from "../expression/expression.ts";
import { followPath } from "../model/entity-paths.ts";
import type { Model } from "../model/model.ts";
import { cannotHold, expressionSql } from "./export-result.ts";

/** A condition as a filter of MetricFlow, which names dimensions only. Throws if a column is none. */
export function metricFlowFilter(condition: Expression, entity: string, model: Model): string {
  const templates: string[] = [];
  const marked = mapReferences(condition, (reference) => {
    templates.push(templateOf(reference, entity, model));
    return { kind: "reference", reference: { path: [], name: `tandem_template_${templates.length - 1}` } };
  });
  return expressionSql(marked).replaceAll(/tandem_template_(\d+)/g, (_, at: string) => templates[Number(at)]!);
}

function templateOf({ path, name }: ColumnReference, from: string, model: Model): string {
  const found = followPath(model.entities, from, path, "one");
  const written = [...path, name].join(".");
  if (!found || found.steps.some((step) => step.isReverse || step.name === "" || step.columns.length > 1)) {
    throw cannotHold(`The way to ${written} has no name in MetricFlow.`);
  }
  const target = model.entities.get(found.steps.at(-1)?.to ?? from)!;
  const dimension = [...target.dimensions.values()].find(
    ({ expression, time }) =>
      !time &&
      expression.kind === "reference" &&
      expression.reference.path.length === 0 &&
      expression.reference.name === name,
  );
  if (!dimension) throw cannotHold(`${written} is no dimension, and filters of MetricFlow name only those.`);
  const steps = found.steps.map((step) => step.name);
  return `{{ Dimension('${[...(steps.length > 0 ? steps : [from]), dimension.name].join("__")}') }}`;
}
