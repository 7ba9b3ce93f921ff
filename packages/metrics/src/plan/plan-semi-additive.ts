import { compare, exact, isNotNull, type Output, output, relation, type Select, type Sql } from "../sql/sql.ts";
import { bucketSql, entitySql, timeSql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import { isOwnTime, ownTime } from "./field.ts";
import type { Leaf } from "./leaf.ts";
import { type FactPlan, groupOutputs, leafCondition, queryConditions, type QueryContext } from "./plan-fact.ts";

/**
 * A measure that does not add up over time, such as a balance. It adds up over everything else: the last time is that of all
 * rows of the period, not of each group, so that the groups sum up to the total. With `per`, each of these takes its own
 * last time, to the second.
 */
export function planSemiAdditive(context: QueryContext, leaf: Leaf, name: string): FactPlan {
  const { entity, measure, column } = leaf;
  const over = measure.over!;
  const scope = new FactScope(context.model.entities, entity);
  const groups = groupOutputs(context, scope, leaf);
  const dimension = ownTime(entity, measure);
  const moment = timeSql(scope, [], dimension, context.model.dialect);
  const per = over.per.map((expression) => exact(entitySql(scope, [], expression)));
  const time = per.length > 0 && over.time !== "average" ? moment : bucketSql(moment, dimension, dimension.time!);
  const condition = leafCondition(scope, leaf);
  const value: Sql = measure.expression ? entitySql(scope, [], measure.expression) : { op: "number", value: "1" };
  const rows: Select = {
    outputs: [...groups, { name: "value", sql: value }, { name: "time", sql: time }, ...lastTime()],
    from: scope.from,
    joins: scope.joins,
    where: [...queryConditions(context, scope, leaf), ...(condition ? [condition] : [])],
  };
  const kept = (from: string): Output[] => groups.map((group) => ({ name: group.name, sql: output(from, group.name) }));
  const source = (from: string) => ({ from: relation(from), joins: [] });
  const grouped = groups.length > 0 ? { groupBy: groups.length } : {};
  const rowsName = `${name}_rows`;
  const sum = (from: string): Sql => ({ op: "aggregate", function: "sum", operand: output(from, "value", "number") });
  if (over.time !== "average") {
    const isLast = compare("=", output(rowsName, "time", "number"), output(rowsName, "last", "number"));
    const total: Select = {
      outputs: [...kept(rowsName), { name: column, sql: sum(rowsName) }],
      ...source(rowsName),
      where: [isLast],
      ...grouped,
    };
    return {
      named: [
        { name: rowsName, query: rows },
        { name, query: total },
      ],
      leaves: [leaf],
      warnings: [...scope.warnings],
    };
  }
  const timesName = `${name}_times`;
  const times: Select = {
    outputs: [
      ...kept(rowsName),
      { name: "time", sql: output(rowsName, "time", "number") },
      { name: "value", sql: sum(rowsName) },
    ],
    ...source(rowsName),
    where: [isNotNull(output(rowsName, "time", "number"))],
    groupBy: groups.length + 1,
  };
  const average: Sql = { op: "aggregate", function: "average", operand: output(timesName, "value", "number") };
  const mean: Select = {
    outputs: [...kept(timesName), { name: column, sql: average }],
    ...source(timesName),
    where: [],
    ...grouped,
  };
  return {
    named: [
      { name: rowsName, query: rows },
      { name: timesName, query: times },
      { name, query: mean },
    ],
    leaves: [leaf],
    warnings: [...scope.warnings],
  };

  function lastTime(): Output[] {
    if (over.time === "average") return [];
    const edge = over.time === "last" ? "max" : "min";
    const periods = groups.filter((_, at) => isOwnTime(context.fields[at]!, entity, measure));
    const partition = [...periods.map(({ sql }) => sql), ...per];
    return [{ name: "last", sql: { op: "window", function: edge, operand: time, partition } }];
  }
}
