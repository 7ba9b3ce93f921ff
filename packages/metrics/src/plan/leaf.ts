import { nearest } from "@tandem/protocol";
import { lowerExpression } from "../sql/lower-expression.ts";
import { MetricError } from "../metric-error.ts";
import type { Entity, Measure, Metric, Model, Offset } from "../model/model.ts";
import type { Expression } from "../expression/expression.ts";
import { output, type Sql, type SqlType, typeOf } from "../sql/sql.ts";
import { entitySql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";

/** One aggregate of a query. Ratios and derived metrics are computed from them at the end. */
export interface Leaf {
  /** Its column in the statement. */
  readonly column: string;
  readonly type: SqlType;
  readonly metric: string;
  readonly entity: Entity;
  readonly measure: Measure;
  readonly where: readonly Expression[];
  readonly offset?: Offset;
  readonly cumulative?: { readonly to?: Offset["unit"]; readonly window?: Offset };
}

/** No rows mean zero, not an unknown value. */
const isAdditive = ({ measure }: Leaf): boolean => ["sum", "count", "count_distinct"].includes(measure.aggregate);
const isCount = ({ measure }: Leaf): boolean => measure.aggregate === "count" || measure.aggregate === "count_distinct";

/** Collects the leaves of metrics; the same leaf is computed once. */
export class Leaves {
  readonly all: Leaf[] = [];
  readonly #model: Model;
  readonly #byKey = new Map<string, Leaf>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** The value of a metric, computed from columns of the relation `alias`. */
  value(name: string, alias: string, offset?: Offset): Sql {
    const metric = this.#metric(name);
    switch (metric.kind) {
      case "simple":
      case "cumulative":
        return this.#leafValue(this.#leaf(metric, offset), alias);
      case "ratio":
        return {
          op: "arithmetic",
          operator: "/",
          left: this.#orZero(metric.numerator, alias, offset),
          right: this.value(metric.denominator, alias, offset),
        };
      case "derived":
        return this.#derived(metric, alias, offset);
    }
  }

  #derived(metric: Extract<Metric, { kind: "derived" }>, alias: string, offset: Offset | undefined): Sql {
    const inputs = new Map<string, Sql>();
    const resolved = (isZeroed: boolean) =>
      lowerExpression(metric.expression, ({ name }) => {
        const input = metric.inputs.get(name) ?? { metric: name };
        if (input.offset && offset) {
          throw new MetricError(
            "unsupported",
            `${metric.name} is compared with an earlier time, and has an offset itself.`,
          );
        }
        const of = input.offset ?? offset;
        const value = this.value(input.metric, alias, of);
        inputs.set(name, value);
        return isZeroed ? this.#orZero(input.metric, alias, of) : value;
      });
    const plain = resolved(false);
    if (typeOf(plain) !== "number") {
      throw new MetricError("broken_definition", `The metric ${metric.name} is no number.`);
    }
    if (inputs.size < 2) return plain;
    // An input without rows counts as zero, unless there are no rows of any.
    return {
      op: "case",
      branches: [
        {
          when: { op: "and", operands: [...inputs.values()].map((operand): Sql => ({ op: "is_null", operand })) },
          result: { op: "null", type: "number" },
        },
      ],
      otherwise: resolved(true),
    };
  }

  #orZero(name: string, alias: string, offset: Offset | undefined): Sql {
    const metric = this.#metric(name);
    const value = this.value(name, alias, offset);
    if (metric.kind !== "simple" && metric.kind !== "cumulative") return value;
    const leaf = this.#leaf(metric, offset);
    return isAdditive(leaf) && !isCount(leaf) ? zeroIfNull(value) : value;
  }

  #leafValue(leaf: Leaf, alias: string): Sql {
    const value = output(alias, leaf.column, leaf.type);
    return isCount(leaf) ? zeroIfNull(value) : value;
  }

  #leaf(metric: Extract<Metric, { kind: "simple" | "cumulative" }>, offset: Offset | undefined): Leaf {
    const simple = metric.kind === "simple" ? metric : this.#metric(metric.metric);
    if (simple.kind !== "simple")
      throw new MetricError("broken_definition", `${metric.name} is not built on a measure.`);
    const cumulative = metric.kind === "cumulative" ? { to: metric.to, window: metric.window } : undefined;
    const key = JSON.stringify([simple.entity, simple.measure, simple.where, offset, cumulative]);
    const found = this.#byKey.get(key);
    if (found) return found;
    const entity = this.#model.entities.get(simple.entity)!;
    const measure = entity.measures.get(simple.measure)!;
    const isExtreme = measure.aggregate === "min" || measure.aggregate === "max";
    const leaf: Leaf = {
      column: `m${this.all.length + 1}`,
      type: isExtreme
        ? typeOf(entitySql(new FactScope(this.#model.entities, entity), [], measure.expression!))
        : "number",
      metric: metric.name,
      entity,
      measure,
      where: simple.where,
      ...(offset && { offset }),
      ...(cumulative && { cumulative }),
    };
    this.#byKey.set(key, leaf);
    this.all.push(leaf);
    return leaf;
  }

  #metric(name: string): Metric {
    const metric = this.#model.metrics.get(name);
    if (metric) return metric;
    const broken = this.#model.broken.find((part) => part.name === name);
    if (broken)
      throw new MetricError("broken_definition", `The metric ${name} is broken: ${broken.message}`, broken.fix);
    const known = [...this.#model.metrics.keys()];
    const meant = nearest(name, known);
    throw new MetricError(
      "unknown_name",
      `There is no metric ${name}.`,
      meant ? `Did you mean ${meant}?` : `Known: ${known.slice(0, 20).join(", ") || "none"}.`,
    );
  }
}

const zeroIfNull = (sql: Sql): Sql => ({
  op: "call",
  name: "coalesce",
  operands: [sql, { op: "number", value: "0" }],
  type: "number",
});
