import type { Dialect } from "@tandem/connectors";
import { compare, type Output, output, relation, type Select, type Sql } from "../sql/sql.ts";
import { entitySql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import type { Leaf } from "./leaf.ts";
import { type FactPlan, groupOutputs, leafCondition, queryConditions, type QueryContext } from "./plan-fact.ts";

/** SQLite and MySQL have no aggregate for a median. */
export const needsRanks = ({ measure, cumulative }: Leaf, dialect: Dialect): boolean =>
  measure.aggregate === "median" && !cumulative && (dialect === "sqlite" || dialect === "mysql");

/** A median by numbering the rows of each group: the mean of the one or two values in the middle. */
export function planMedian(context: QueryContext, leaf: Leaf, name: string): FactPlan {
  const scope = new FactScope(context.model.entities, leaf.entity);
  const groups = groupOutputs(context, scope, leaf);
  const condition = leafCondition(scope, leaf);
  const operand = entitySql(scope, [], leaf.measure.expression!);
  const partition = groups.map(({ sql }) => sql);
  const rows: Select = {
    outputs: [
      ...groups,
      { name: "value", sql: operand },
      { name: "place", sql: { op: "row_number", operand, partition } },
      { name: "known", sql: { op: "window", function: "count", operand, partition } },
    ],
    from: scope.from,
    joins: scope.joins,
    where: [...queryConditions(context, scope, leaf), ...(condition ? [condition] : [])],
  };
  const rowsName = `${name}_rows`;
  const out = (column: string): Sql => output(rowsName, column, "number");
  const arithmetic = (operator: "+" | "*", left: Sql, right: Sql): Sql => ({ op: "arithmetic", operator, left, right });
  const two: Sql = { op: "number", value: "2" };
  const place = arithmetic("*", out("place"), two);
  const isMiddle: Sql = {
    op: "and",
    operands: [compare(">=", place, out("known")), compare("<=", place, arithmetic("+", out("known"), two))],
  };
  const middle: Sql = {
    op: "case",
    branches: [{ when: isMiddle, result: out("value") }],
    otherwise: { op: "null", type: "number" },
  };
  const total: Select = {
    outputs: [
      ...groups.map(({ name: group }): Output => ({ name: group, sql: output(rowsName, group) })),
      { name: leaf.column, sql: { op: "aggregate", function: "average", operand: middle } },
    ],
    from: relation(rowsName),
    joins: [],
    where: [],
    ...(groups.length > 0 && { groupBy: groups.length }),
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
