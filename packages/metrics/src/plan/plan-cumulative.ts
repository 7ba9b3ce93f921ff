import { MetricError } from "../metric-error.ts";
import { contains, type Granularity } from "../model/granularity.ts";
import type { Dimension } from "../model/model.ts";
import { bucketText, periodsOf, shifted, startOf, type TimeRange } from "../query/time-range.ts";
import { allOf, exact, type Output, type Query, type Select, type Sql } from "../sql/sql.ts";
import { bucketSql, entitySql, timeSql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import { isOwnTime, ownTime } from "./field.ts";
import { rangeOf } from "./filter-sql.ts";
import type { Leaf } from "./leaf.ts";
import { type FactPlan, groupOutputs, leafCondition, queryConditions, type QueryContext } from "./plan-fact.ts";

/**
 * A running total: the rows of each period are added up once, and every period of a calendar takes the periods before it.
 * The calendar is that of the query's range, or the periods that have rows.
 */
export function planCumulative(context: QueryContext, leaf: Leaf, name: string): FactPlan {
  const { entity, measure, column } = leaf;
  const dimension = ownTime(entity, measure);
  const at = context.fields.findIndex((field) => isOwnTime(field, entity, measure));
  const unit = context.fields[at]?.unit ?? dimension.time!;
  if (at < 0) {
    throw new MetricError(
      "unsafe",
      `${leaf.metric} is cumulative, and needs a time to group by.`,
      "Group by time.day or time.month.",
    );
  }
  const { to, window } = leaf.cumulative!;
  if (to && !contains(to, unit)) {
    throw new MetricError(
      "unsafe",
      `${leaf.metric} starts anew each ${to}, which does not consist of whole ${unit}s.`,
      "Group by day or month.",
    );
  }
  const fine: Granularity = window && !contains(unit, "day") ? unit : dimension.time!;
  const range = givenRange(context, leaf, dimension);

  const scope = new FactScope(context.model.entities, entity);
  const groups = groupOutputs(context, scope, leaf);
  const time = timeSql(scope, [], dimension, context.model.dialect);
  const condition = leafCondition(scope, leaf);
  const operand = measure.expression && exact(entitySql(scope, [], measure.expression));
  const finer: Output[] = [
    { name: "fine", sql: bucketSql(time, dimension, fine) },
    ...(to ? [{ name: "start", sql: bucketSql(time, dimension, to) }] : []),
  ];
  const rowsName = `${name}_rows`;
  const rows: Select = {
    outputs: [
      ...groups,
      ...finer,
      { name: "value", sql: { op: "aggregate", function: measure.aggregate, ...(operand && { operand }) } },
    ],
    from: scope.from,
    joins: scope.joins,
    where: [
      ...queryConditions(context, scope, leaf, (given) => longer(given, to, window)),
      ...(condition ? [condition] : []),
    ],
    groupBy: groups.length + finer.length,
  };

  const bucket = groups[at]!.name;
  const calendarName = `${name}_calendar`;
  const out = (from: string, one: string): Sql => ({ op: "output", alias: from, name: one, type: "text" });
  const compare = (operator: "=" | "<=" | ">=", left: Sql, right: Sql): Sql => ({
    op: "compare",
    operator,
    left,
    right,
  });
  const first = out(calendarName, "period");
  const reach: Sql[] = [compare("<=", out(rowsName, bucket), first)];
  if (to) reach.push(compare("=", out(rowsName, "start"), out(calendarName, "start")));
  if (window) {
    const end: Sql = { op: "shift", operand: first, unit, by: 1 };
    const start: Sql = { op: "shift", operand: end, unit: window.unit, by: -window.count };
    reach.push(compare(">=", out(rowsName, "fine"), start));
  }
  const aggregate = measure.aggregate === "count" ? "sum" : measure.aggregate;
  const total: Select = {
    outputs: [
      ...groups.map((group, index): Output => ({
        name: group.name,
        sql: index === at ? first : out(rowsName, group.name),
      })),
      {
        name: column,
        sql: {
          op: "aggregate",
          function: aggregate,
          operand: { op: "output", alias: rowsName, name: "value", type: "number" },
        },
      },
    ],
    from: { kind: "named", name: calendarName, alias: calendarName },
    joins: [{ kind: "inner", source: { kind: "named", name: rowsName, alias: rowsName }, on: allOf(reach)! }],
    where: [],
    groupBy: groups.length,
  };
  return {
    named: [
      { name: rowsName, query: rows },
      { name: calendarName, query: calendar() },
      { name, query: total },
    ],
    leaves: [leaf],
    warnings: [...scope.warnings],
  };

  function calendar(): Query {
    const { from, until } = range;
    if (from !== undefined && until !== undefined) {
      const periods = periodsOf({ from, until }, unit);
      const union = periods.map((period): Select => ({ outputs: constants(period), joins: [], where: [] }));
      if (union.length > 1) return { union };
      // Two ranges that do not overlap leave no period.
      return union[0] ?? { outputs: constants(from.slice(0, 10)), joins: [], where: [{ op: "boolean", value: false }] };
    }
    const known = out(rowsName, bucket);
    return {
      outputs: [{ name: "period", sql: known }, ...(to ? [{ name: "start", sql: out(rowsName, "start") }] : [])],
      isDistinct: true,
      from: { kind: "named", name: rowsName, alias: rowsName },
      joins: [],
      where:
        from === undefined
          ? [{ op: "not", operand: { op: "is_null", operand: known } }]
          : [compare(">=", known, { op: "text", value: bucketText(startOf(from, unit), unit) })],
    };
  }

  function constants(period: string): Output[] {
    const local = `${period.replace("T", " ")}${period.length === 10 ? " 00:00:00" : ":00"}`;
    const start = to && bucketText(startOf(local, to), to);
    return [
      { name: "period", sql: { op: "text", value: period } },
      ...(start === undefined ? [] : [{ name: "start", sql: { op: "text", value: start } as const }]),
    ];
  }
}

function givenRange(context: QueryContext, leaf: Leaf, dimension: Dimension): TimeRange {
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
