import { canShift, contains } from "../sql/granularity.ts";
import { bucketText, startOf } from "../query/time-range.ts";
import { compare, output, relation, type Select, type Sql } from "../sql/sql.ts";
import { isOwnTime, ownTime } from "./field.ts";
import type { Leaf } from "./leaf.ts";
import { givenRange } from "./plan-cumulative.ts";
import type { FactPlan, QueryContext } from "./plan-fact.ts";

/** The group that is a day, if the leaf is compared with an earlier month, quarter or year. */
export function dayOfEarlier({ fields }: QueryContext, { entity, measure, offset, cumulative }: Leaf): number {
  if (!offset || cumulative || !contains(offset.unit, "month")) return -1;
  return fields.findIndex(
    (field) =>
      isOwnTime(field, entity, measure) &&
      (field.unit ?? ownTime(entity, measure).time) === "day" &&
      !canShift("day", offset),
  );
}

/**
 * Days compared with those of an earlier month or year. Months differ in length, so 31 March looks back at the last day of
 * February, as 28 March does, and 31 January is not looked back at. `plan` has the values of the earlier days.
 */
export function planEarlierDays(context: QueryContext, leaf: Leaf, plan: FactPlan, name: string): FactPlan {
  const at = dayOfEarlier(context, leaf);
  const { unit, count } = leaf.offset!;
  const source = plan.named.at(-1)!;
  const first = "union" in source.query ? source.query.union[0]! : source.query;
  const out = (column: string): Sql => output(source.name, column);
  const day = out(first.outputs[at]!.name);
  const { from, until } = givenRange(context, leaf, ownTime(leaf.entity, leaf.measure));
  const longest = unit === "year" ? 1 : 3;
  const isPeriod = (index: number): boolean => {
    const field = context.fields[index];
    return field !== undefined && isOwnTime(field, leaf.entity, leaf.measure);
  };
  // A month beside the day is that of the day which looks back.
  const periodOf = (index: number, operand: Sql): Sql => ({
    op: "bucket",
    unit: context.fields[index]!.unit!,
    operand,
  });
  const union = Array.from({ length: longest + 1 }, (_, more): Select => {
    const same: Sql = { op: "shift", operand: day, unit, by: count };
    const moved: Sql = more === 0 ? same : { op: "shift", operand: same, unit: "day", by: more };
    const back: Sql = { op: "shift", operand: moved, unit, by: -count };
    return {
      outputs: first.outputs.map((output, index) => ({
        name: output.name,
        sql: index === at ? moved : isPeriod(index) ? periodOf(index, moved) : out(output.name),
      })),
      from: relation(source.name),
      joins: [],
      where: [
        compare("=", back, day),
        ...(from === undefined ? [] : [compared(moved, ">=", from)]),
        ...(until === undefined ? [] : [compared(moved, until.endsWith(" 00:00:00") ? "<" : "<=", until)]),
      ],
    };
  });
  return { ...plan, named: [...plan.named, { name, query: { union } }] };
}

const compared = (left: Sql, operator: ">=" | "<" | "<=", bound: string): Sql =>
  compare(operator, left, { op: "text", value: bucketText(startOf(bound, "day"), "day") });
