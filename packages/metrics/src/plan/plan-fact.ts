import { MetricError } from "../metric-error.ts";
import { canShift } from "../sql/granularity.ts";
import type { Dimension, Model } from "../model/model.ts";
import type { MetricFilter } from "@tandem/protocol";
import { shifted, shiftedEnd, type TimeRange } from "../query/time-range.ts";
import { allOf, exact, isNotNull, type Output, type Query, type Select, type Sql, typeOf } from "../sql/sql.ts";
import { entitySql, groupSql, timeSql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import { dimensionOf, type Field, isOwnTime, ownTime } from "./field.ts";
import { type Condition, conditionsSql, dimensionCondition, rangeOf, rangeSql } from "./filter-sql.ts";
import type { Leaf } from "./leaf.ts";

/** The parts of a query that apply to every fact. */
export interface QueryContext {
  readonly model: Model;
  readonly fields: readonly Field[];
  readonly filters: readonly { readonly filter: MetricFilter; readonly field: Field }[];
  readonly segments: readonly { readonly path: readonly string[]; readonly name: string }[];
  readonly now: Date;
  /** Earlier values stay in their own periods. */
  readonly isUnmoved?: true;
}

/** Named queries, the last of which has the dimensions `d1`… and the columns of the leaves. */
export interface FactPlan {
  readonly named: readonly { readonly name: string; readonly query: Query }[];
  readonly leaves: readonly Leaf[];
  readonly warnings: readonly string[];
}

export const dimensionName = (at: number): string => `d${at + 1}`;

/** Leaves of one entity that can be computed from the same rows. */
export function planFact(context: QueryContext, leaves: readonly Leaf[], name: string): FactPlan {
  const leaf = leaves[0]!;
  const scope = new FactScope(context.model.entities, leaf.entity);
  const groups = groupOutputs(context, scope, leaf);
  const conditions = leaves.map((one) => leafCondition(scope, one));
  const shared = isSame(conditions) ? conditions[0] : undefined;
  const measures = leaves.map(({ column, measure }, at): Output => {
    const operand = measure.expression && exact(entitySql(scope, [], measure.expression));
    const condition = shared ? undefined : conditions[at];
    return { name: column, sql: { op: "aggregate", function: measure.aggregate, ...whenTrue(condition, operand) } };
  });
  const where = [...queryConditions(context, scope, leaf), ...(shared ? [shared] : anyOf(conditions))];
  const query: Select = {
    outputs: [...groups, ...measures],
    from: scope.from,
    joins: scope.joins,
    where,
    ...(groups.length > 0 && { groupBy: groups.length }),
  };
  return { named: [{ name, query }], leaves, warnings: [...scope.warnings] };
}

export function groupOutputs({ fields, model, isUnmoved }: QueryContext, scope: FactScope, leaf: Leaf): Output[] {
  return fields.map((field, at) => {
    const isOwn = isOwnTime(field, leaf.entity, leaf.measure);
    const { path, dimension } = isOwn
      ? { path: [], dimension: ownTime(leaf.entity, leaf.measure) }
      : fieldIn(scope, field);
    if (field.unit && !dimension.time) {
      throw new MetricError("unknown_name", `${dimension.name} is no time, and has no ${field.unit}.`);
    }
    const sql = groupSql(scope, path, dimension, field.unit, model.dialect);
    return {
      name: dimensionName(at),
      sql: leaf.offset && !(isOwn && isUnmoved) ? movedBucket(sql, isOwn, dimension, leaf) : sql,
    };
  });
}

function fieldIn(scope: FactScope, field: Field): { path: readonly string[]; dimension: Dimension } {
  if (field.kind === "own_time") throw new MetricError("unknown_name", `${scope.entity.name} has no own time.`);
  return { path: field.path, dimension: dimensionOf(scope.reach(field.path).entity, field.name) };
}

/** An earlier value appears in the period that it is compared with. */
function movedBucket(sql: Sql, isOwn: boolean, dimension: Dimension, { metric, offset }: Leaf): Sql {
  if (!dimension.time || !offset) return sql;
  const text = `${offset.count} ${offset.unit}`;
  if (!isOwn)
    throw new MetricError(
      "unsafe",
      `${metric} of ${text} before cannot be grouped by ${dimension.name}.`,
      "Group by time.",
    );
  if (sql.op !== "bucket" || !canShift(sql.unit, offset)) {
    const unit = sql.op === "bucket" ? sql.unit : "period";
    throw new MetricError("unsafe", `Periods of a ${unit} do not repeat after ${text}.`, `Group by ${offset.unit}.`);
  }
  return { op: "shift", operand: sql, unit: offset.unit, by: offset.count };
}

/** The conditions of the query on the rows of a fact. `range` replaces those on its own time. */
export function queryConditions(
  context: QueryContext,
  scope: FactScope,
  leaf: Leaf,
  range?: (given: TimeRange) => TimeRange,
): Sql[] {
  const { filters, segments, model, now } = context;
  const own = filters.filter(({ field }) => isOwnTime(field, leaf.entity, leaf.measure));
  const times = own.flatMap(({ filter, field }) => {
    const dimension = ownTime(leaf.entity, leaf.measure);
    const time = timeSql(scope, [], dimension, model.dialect);
    if ("op" in filter) {
      if ((leaf.offset || range) && filter.op !== "not_null")
        throw new MetricError("unsafe", `${leaf.metric} needs a range of ${field.text}.`, "Use from and until.");
      return dimensionCondition(
        filter,
        [],
        { name: dimension.name, ...(field.unit && { unit: field.unit }) },
        model,
        now,
      ).sql(scope, []);
    }
    const given = rangeOf(filter, dimension, now);
    return rangeSql(time, dimension, (range ?? ((same) => earlier(same, leaf)))(given));
  });
  const others = filters.flatMap(({ filter, field }): Condition[] => {
    if (field.kind === "own_time" || isOwnTime(field, leaf.entity, leaf.measure)) return [];
    return [
      dimensionCondition(
        filter,
        pathFrom(scope, field.path),
        { name: field.name, ...(field.unit && { unit: field.unit }) },
        model,
        now,
      ),
    ];
  });
  const kept = segments.map(({ path, name }): Condition => ({
    path: pathFrom(scope, path),
    sql: (inner, at) => {
      const { entity } = inner.reach(at);
      const segment = entity.segments.get(name);
      if (!segment) throw new MetricError("unknown_name", `${entity.name} has no segment ${name}.`);
      return [entitySql(inner, at, segment)];
    },
  }));
  // A row without a time is not earlier than anything.
  const timed = leaf.offset ? [isNotNull(timeSql(scope, [], ownTime(leaf.entity, leaf.measure), model.dialect))] : [];
  return [...timed, ...times, ...conditionsSql(scope, [...others, ...kept], model)];
}

const pathFrom = (scope: FactScope, path: readonly string[]): readonly string[] =>
  path[0] === scope.entity.name ? path.slice(1) : path;

export function earlier({ from, until }: TimeRange, { offset }: Leaf): TimeRange {
  if (!offset) return { from, until };
  const back = { count: -offset.count, unit: offset.unit };
  return { ...(from && { from: shifted(from, back) }), ...(until && { until: shiftedEnd(until, back) }) };
}

/** The conditions of the measure and of the metric. */
export function leafCondition(scope: FactScope, { measure, where }: Leaf): Sql | undefined {
  return allOf([...measure.where, ...where].map((condition) => entitySql(scope, [], condition)));
}

function whenTrue(condition: Sql | undefined, operand: Sql | undefined): { operand?: Sql } {
  if (!condition) return operand ? { operand } : {};
  const result: Sql = operand ?? { op: "number", value: "1" };
  return {
    operand: { op: "case", branches: [{ when: condition, result }], otherwise: { op: "null", type: typeOf(result) } },
  };
}

/** A group needs a row that counts for one of the measures. */
const anyOf = (conditions: readonly (Sql | undefined)[]): Sql[] => {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length < conditions.length || given.length === 0 ? [] : [{ op: "or", operands: given }];
};

const isSame = (conditions: readonly (Sql | undefined)[]): boolean =>
  conditions[0] !== undefined &&
  conditions.every((condition) => JSON.stringify(condition) === JSON.stringify(conditions[0]));
