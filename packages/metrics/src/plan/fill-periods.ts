import type { MetricQuery } from "@tandem/protocol";
import { MetricError } from "../metric-error.ts";
import { periodsOf } from "../query/time-range.ts";
import { type Output, output, relation, type Select, type Sql, type Statement } from "../sql/sql.ts";
import { isOwnTime, ownTime } from "./field.ts";
import type { Leaf } from "./leaf.ts";
import { givenRange } from "./plan-cumulative.ts";
import { dimensionName, type QueryContext } from "./plan-fact.ts";
import { withRanges } from "./time-ranges.ts";

const PERIODS = "fill_periods";
const ROWS = "fill_rows";
const GROUPS = "fill_groups";

/**
 * Rows without values for every period of the query's range; with other dimensions, for every period of each of their groups
 * that has rows. `rows` selects the groups of the current facts, and `values` are the columns of a row without values.
 */
export function fillPeriods(
  query: MetricQuery,
  given: QueryContext,
  leaf: Leaf,
  rows: readonly Select[],
  values: readonly Output[],
): { named: Statement["named"]; branch: Select } {
  const context = withRanges(given, leaf);
  const times = context.fields.flatMap((field, at) => (isOwnTime(field, leaf.entity, leaf.measure) ? [at] : []));
  const hasRange = context.filters.some(
    ({ filter, field }) => isOwnTime(field, leaf.entity, leaf.measure) && !("op" in filter),
  );
  const [at] = times;
  if (at === undefined || times.length > 1 || !hasRange) {
    throw new MetricError(
      "unsafe",
      "Empty periods can be added only to a query by one time, with a range of that time.",
    );
  }
  const dimension = ownTime(leaf.entity, leaf.measure);
  const { from, until } = givenRange(context, leaf, dimension);
  if (from === undefined || until === undefined) {
    throw new MetricError(
      "unsafe",
      "Empty periods can be added only between two bounds.",
      `Give from and until of ${query.by[at]}.`,
    );
  }
  const periods = periodsOf({ from, until }, context.fields[at]!.unit ?? dimension.time!).map((period): Select => ({
    outputs: [{ name: "period", sql: { op: "text", value: period } }],
    joins: [],
    where: [],
  }));
  const others = context.fields.flatMap((_, index) => (index === at ? [] : [dimensionName(index)]));
  const groups: Statement["named"] =
    others.length === 0
      ? []
      : [
          { name: ROWS, query: { union: rows } },
          {
            name: GROUPS,
            query: {
              outputs: others.map((name) => ({ name, sql: output(ROWS, name) })),
              isDistinct: true,
              from: relation(ROWS),
              joins: [],
              where: [],
            },
          },
        ];
  const always: Sql = { op: "boolean", value: true };
  return {
    named: [{ name: PERIODS, query: { union: periods } }, ...groups],
    branch: {
      outputs: [
        ...context.fields.map((_, index): Output => ({
          name: dimensionName(index),
          sql: index === at ? output(PERIODS, "period") : output(GROUPS, dimensionName(index)),
        })),
        ...values,
      ],
      from: relation(PERIODS),
      joins: others.length === 0 ? [] : [{ kind: "inner", source: relation(GROUPS), on: always }],
      where: [],
    },
  };
}
