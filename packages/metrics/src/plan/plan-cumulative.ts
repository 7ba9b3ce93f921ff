import { MetricError } from "../metric-error.ts";
import { canShift, contains, type Granularity, MINUTES } from "../sql/granularity.ts";
import type { Dimension, Offset } from "../model/model.ts";
import { bucketText, periodsOf, shifted, startOf, type TimeRange } from "../query/time-range.ts";
import {
  allOf,
  compare,
  exact,
  isNotNull,
  relation,
  type Output,
  output,
  type Query,
  type Select,
  type Sql,
} from "../sql/sql.ts";
import { bucketSql, entitySql, timeSql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import { isOwnTime, ownTime } from "./field.ts";
import { rangeOf } from "./filter-sql.ts";
import type { Leaf } from "./leaf.ts";
import {
  type FactPlan,
  earlier,
  groupOutputs,
  leafCondition,
  queryConditions,
  type QueryContext,
} from "./plan-fact.ts";

/** The relation of a running total that has the period of each row. */
export const rowsOf = (name: string): string => `${name}_rows`;

/**
 * A running total: the rows of each period are added up once, and every period of a calendar takes the periods before it.
 * The calendar is that of the query's range, or the periods that one of the relations `facts` has: a period in which only
 * another fact has rows must not show a total of nothing.
 */
export function planCumulative(context: QueryContext, leaf: Leaf, name: string, facts: readonly string[]): FactPlan {
  const { entity, measure, column } = leaf;
  const dimension = ownTime(entity, measure);
  const own = context.fields.flatMap((field, index) => (isOwnTime(field, entity, measure) ? [index] : []));
  const unitAt = (index: number): Granularity => context.fields[index]?.unit ?? dimension.time!;
  // The calendar has the finest of several periods; the others follow from it.
  const at = own.find((index) => own.every((other) => contains(unitAt(other), unitAt(index)))) ?? -1;
  const unit = unitAt(at);
  if (at < 0 && own.length > 1) {
    throw new MetricError(
      "unsafe",
      `${leaf.metric} cannot be grouped by weeks and months at once.`,
      "Name one of them.",
    );
  }
  if (at < 0) {
    throw new MetricError(
      "unsafe",
      `${leaf.metric} is cumulative, and needs a time to group by.`,
      "Group by time.day or time.month.",
    );
  }
  const { to } = leaf.cumulative!;
  const window = leaf.cumulative!.window && windowIn(leaf.cumulative!.window, unit, dimension, leaf);
  if (to && !contains(to, unit)) {
    throw new MetricError(
      "unsafe",
      `${leaf.metric} restarts each ${to}, which does not consist of whole ${unit}s.`,
      "Group by day or month.",
    );
  }
  const { offset } = leaf;
  if (offset && !canShift(unit, offset) && unit !== "day") {
    throw new MetricError(
      "unsafe",
      `Periods of a ${unit} do not repeat after ${offset.count} ${offset.unit}.`,
      `Group by ${offset.unit}.`,
    );
  }
  const back = offset && { count: -offset.count, unit: offset.unit };
  const range = givenRange(context, leaf, dimension);

  const scope = new FactScope(context.model.entities, entity);
  // The calendar looks back, so that rows stay in their own periods.
  const groups = groupOutputs({ ...context, isUnmoved: true }, scope, leaf);
  const kept = groups.filter((_, index) => index === at || !own.includes(index));
  const time = timeSql(scope, [], dimension, context.model.dialect);
  const condition = leafCondition(scope, leaf);
  const operand = measure.expression && exact(entitySql(scope, [], measure.expression));
  const finer: Output[] = [
    { name: "fine", sql: bucketSql(time, dimension, dimension.time!) },
    ...(to ? [{ name: "start", sql: bucketSql(time, dimension, to) }] : []),
  ];
  const rowsName = rowsOf(name);
  // Distinct values and averages of periods do not add up: every row stays.
  const addsUp = ["sum", "count", "min", "max"].includes(measure.aggregate);
  const rows: Select = {
    outputs: [
      ...kept,
      ...finer,
      {
        name: "value",
        sql: addsUp ? { op: "aggregate", function: measure.aggregate, ...(operand && { operand }) } : operand!,
      },
    ],
    from: scope.from,
    joins: scope.joins,
    where: [
      ...queryConditions(context, scope, leaf, (given) => longer(earlier(given, leaf), to, window)),
      ...(condition ? [condition] : []),
    ],
    ...(addsUp && { groupBy: kept.length + finer.length }),
  };

  const bucket = groups[at]!.name;
  const calendarName = `${name}_calendar`;
  const shown = output(calendarName, "period");
  const first = output(calendarName, "latest");
  const periodOf = (index: number): Sql => ({
    op: "bucket",
    unit: unitAt(index),
    operand: output(calendarName, "period", "day"),
  });
  const reach: Sql[] = [compare("<=", output(rowsName, bucket), first)];
  if (to) reach.push(compare("=", output(rowsName, "start"), output(calendarName, "start")));
  if (window) {
    const end: Sql = { op: "shift", operand: first, unit, by: 1 };
    const start: Sql = { op: "shift", operand: end, unit: window.unit, by: -window.count };
    reach.push(compare(">=", output(rowsName, "fine"), start));
  }
  const aggregate = measure.aggregate === "count" ? "sum" : measure.aggregate;
  const total: Select = {
    outputs: [
      ...groups.map((group, index): Output => ({
        name: group.name,
        sql: index === at ? shown : own.includes(index) ? periodOf(index) : output(rowsName, group.name),
      })),
      {
        name: column,
        sql: {
          op: "aggregate",
          function: aggregate,
          operand: output(rowsName, "value", "number"),
        },
      },
    ],
    from: relation(calendarName),
    joins: [{ kind: "inner", source: relation(rowsName), on: allOf(reach)! }],
    where: [],
    groupBy: groups.length,
  };
  return {
    named: [{ name: rowsName, query: rows }, ...calendar(), { name, query: total }],
    leaves: [leaf],
    warnings: [...scope.warnings],
  };

  function calendar(): FactPlan["named"] {
    const { from, until } = range;
    const known = (query: Query): FactPlan["named"] => [{ name: calendarName, query }];
    if (from !== undefined && until !== undefined) {
      const periods = periodsOf({ from, until }, unit);
      const union = periods.map((period): Select => ({ outputs: constants(period), joins: [], where: [] }));
      if (union.length > 1) return known({ union });
      // Two ranges that do not overlap leave no period.
      const none: Sql[] = [{ op: "boolean", value: false }];
      return known(union[0] ?? { outputs: constants(from.slice(0, 10)), joins: [], where: none });
    }
    const periodsName = `${name}_periods`;
    const union = (facts.length > 0 ? facts : [rowsName]).map((fact): Select => {
      const period = output(fact, bucket);
      const isShown: Sql =
        from === undefined
          ? isNotNull(period)
          : compare(">=", period, { op: "text", value: bucketText(startOf(from, unit), unit) });
      return {
        outputs: [{ name: "period", sql: period }],
        from: relation(fact),
        joins: [],
        where: [isShown],
      };
    });
    const period = output(periodsName, "period", "day");
    const latest: Sql = back ? { op: "shift", operand: period, unit: back.unit, by: back.count } : period;
    const start: Output[] = to ? [{ name: "start", sql: { op: "bucket", unit: to, operand: latest } }] : [];
    return [
      { name: periodsName, query: { union } },
      ...known({
        outputs: [{ name: "period", sql: period }, { name: "latest", sql: latest }, ...start],
        isDistinct: true,
        from: relation(periodsName),
        joins: [],
        where: [],
      }),
    ];
  }

  function constants(period: string): Output[] {
    const local = `${period.replace("T", " ")}${period.length === 10 ? " 00:00:00" : ":00"}`;
    const latest = back ? shifted(local, back) : local;
    const start = to && bucketText(startOf(latest, to), to);
    return [
      { name: "period", sql: { op: "text", value: period } },
      { name: "latest", sql: { op: "text", value: bucketText(latest, unit) } },
      ...(start === undefined ? [] : [{ name: "start", sql: { op: "text", value: start } as const }]),
    ];
  }
}

/** The window in units whose text compares with that of the rows' periods. */
function windowIn(window: Offset, unit: Granularity, dimension: Dimension, { metric }: Leaf): Offset {
  const finest = dimension.time!;
  const isShort = !contains(unit, "day");
  const inMonths = contains(window.unit, "month");
  const isWhole = canShift(finest, window) || (inMonths && !isShort && contains("day", finest));
  if (!isWhole) {
    throw new MetricError(
      "unsafe",
      `${metric} has a window of ${window.count} ${window.unit}s, which does not consist of whole ${isShort ? unit : finest}s.`,
      isShort ? "Group by day or a longer period." : undefined,
    );
  }
  if (inMonths) return window;
  const minutes = window.count * MINUTES[window.unit]!;
  const step = isShort ? unit : "day";
  const count = minutes / MINUTES[step]!;
  if (Number.isInteger(count)) return { count, unit: step };
  return isShort ? { count: minutes, unit: "minute" } : window;
}

/** Where all ranges of the own time overlap. */
export function givenRange(context: QueryContext, leaf: Leaf, dimension: Dimension): TimeRange {
  const ranges = context.filters
    .filter(({ field }) => isOwnTime(field, leaf.entity, leaf.measure))
    .map(({ filter }) => rangeOf(filter, dimension, context.now));
  const froms = ranges.flatMap(({ from }) => (from === undefined ? [] : [from]));
  const untils = ranges.flatMap(({ until }) => (until === undefined ? [] : [until]));
  return {
    ...(froms.length > 0 && { from: froms.toSorted().at(-1)! }),
    ...(untils.length > 0 && { until: untils.toSorted()[0]! }),
  };
}

/** The range of the rows that count for the periods of the given range. */
function longer(
  { from, until }: TimeRange,
  to: Granularity | undefined,
  window: { count: number; unit: Granularity } | undefined,
): TimeRange {
  const end = until === undefined ? {} : { until };
  if (from === undefined || (!to && !window)) return end;
  if (to) return { from: startOf(from, to), ...end };
  return { from: shifted(startOf(from, "day"), { count: -window!.count, unit: window!.unit }), ...end };
}
