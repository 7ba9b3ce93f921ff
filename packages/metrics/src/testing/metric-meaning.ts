import { type Expression, mapReferences } from "../expression/expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { conjuncts } from "../import/entity-scope.ts";
import { followPath } from "../model/entity-paths.ts";
import type { Metric, Model } from "../model/model.ts";

/** The computation of a metric, with intermediate measures and metrics inlined. */
export function metricMeaning(
  model: Model,
  name: string,
  options: { ignoresTime?: boolean; rowsAreKeys?: boolean } = {},
): unknown {
  const { ignoresTime = false, rowsAreKeys = false } = options;
  const meaning = (input: string): unknown => metricMeaning(model, input, options);
  const metric = model.metrics.get(name);
  if (!metric) return `missing ${name}`;
  switch (metric.kind) {
    case "simple": {
      const entity = model.entities.get(metric.entity)!;
      const measure = entity.measures.get(metric.measure)!;
      const text = (expression: Expression): string => writeExpression(located(model, entity.name, expression));
      const time = measure.time === undefined ? undefined : entity.dimensions.get(measure.time);
      return {
        table: entity.table.name,
        aggregate: measure.aggregate,
        of: measure.expression ? text(measure.expression) : rowsAreKeys ? entity.grain[0] : "rows",
        where: [...measure.where, ...metric.where].flatMap(conjuncts).map(text).toSorted(),
        ...(!ignoresTime && time && { time: text(time.expression), by: time.time }),
        ...(measure.over && { over: measure.over.time, per: measure.over.per.map(text) }),
      };
    }
    case "ratio":
      return { ratio: [meaning(metric.numerator), meaning(metric.denominator)] };
    case "cumulative":
      return { total: meaning(metric.metric), to: metric.to, window: metric.window };
    case "derived":
      return { derived: writeExpression(expanded(metric)) };
  }

  /** Its formula, with the formulas of derived metrics in it, and the meaning of all others as text. */
  function expanded({ expression, inputs }: Extract<Metric, { kind: "derived" }>): Expression {
    return mapReferences(expression, ({ name: alias }) => {
      const { metric: input, offset } = inputs.get(alias) ?? { metric: alias, offset: undefined };
      const inner = model.metrics.get(input);
      if (inner?.kind === "derived" && !offset) return expanded(inner);
      return { kind: "text", value: JSON.stringify([meaning(input), offset ?? null]) };
    });
  }
}

/** Columns with the tables and joins that lead to them. */
const located = (model: Model, from: string, expression: Expression): Expression =>
  mapReferences(expression, ({ path, name }) => {
    const steps = followPath(model.entities, from, path, "one")?.steps ?? [];
    const way = steps.map(({ columns, to }) => `${columns.join("+")}>${model.entities.get(to)!.table.name}`);
    return { kind: "reference", reference: { path: way, name } };
  });
