import { type AggregateCall, aggregateCalls, unknownCalls } from "./tree/aggregate-calls.ts";
import { determinedBy, grainsOf } from "./shape/determined.ts";
import { NotJudged, outputOf } from "./shape/query-shape.ts";
import type { SelectRelations } from "./shape/select-relations.ts";
import { kindOf, type SqlNode } from "./tree/sql-node.ts";
import { termsOf } from "./tree/value-terms.ts";
import { finestOf, usedBy } from "./shape/term-grain.ts";
import type { VerdictPart } from "./verdict.ts";

/** Aggregates that can count a row more than once. */
export function checkAggregates(select: SqlNode, scope: SelectRelations): VerdictPart[] {
  const clauses = [select["expressions"], select["having"], select["order_by"], select["qualify"]];
  const calls = aggregateCalls(clauses);
  if (calls.length > 0 && select["qualify"]) throw new NotJudged("It filters the rows of a window with QUALIFY.");
  const [unknown] = scope.canRepeat ? unknownCalls(clauses) : [];
  if (unknown !== undefined) throw new NotJudged(`It calls ${unknown}, which may be an aggregate.`);
  return calls.flatMap((call) => (call.isImmune ? [] : checkCall(call, scope)));
}

function checkCall(call: AggregateCall, scope: SelectRelations): VerdictPart[] {
  const aggregate = `${call.name}(${call.isDistinct ? "distinct " : ""}${operandText(call, scope)})`;
  const terms = call.values.flatMap(termsOf).filter((term) => usedBy(term, scope).length > 0);
  if (terms.length > 0) {
    const parts = terms.flatMap((term) => checkTerm(usedBy(term, scope), aggregate, call, scope));
    return [...new Map(parts.map((part) => [part.message, part])).values()];
  }
  // Without a value, such as in `count(case when x then 1 end)`, the condition's columns tell the grain.
  const used = scope.columnsIn(call.operands).map(({ relation }) => relation);
  return used.length === 0 ? checkRowCount(aggregate, scope) : checkTerm([...new Set(used)], aggregate, call, scope);
}

function checkTerm(
  used: readonly number[],
  aggregate: string,
  call: AggregateCall,
  scope: SelectRelations,
): VerdictPart[] {
  const { relations, equalities } = scope;
  const grain = finestOf(used, scope);
  if (grain === undefined) {
    const names = used.map((relation) => relations[relation]!.label).join(" and ");
    const message = `${aggregate} combines ${names}, of which neither fixes a row of the other.`;
    return [{ kind: "wrong_grain", aggregate, message }];
  }
  const within = scope
    .columnsIn(call.values)
    .map(({ relation, column }) => outputOf(relations[relation]!, column)?.repeats)
    .find((repeats) => repeats !== undefined);
  if (within) {
    const message = `${relations[grain]!.label} repeats values of ${within.label}, and ${aggregate} counts them each time.`;
    return [{ kind: "can_inflate", aggregate, relation: within.label, message }];
  }
  const fixed = determinedBy([grain], relations, equalities);
  const repeating = relations.flatMap(({ label }, at) => (fixed.has(at) ? [] : [label]));
  if (repeating.length === 0) return [];
  const { label } = relations[grain]!;
  return [
    {
      kind: "can_inflate",
      aggregate,
      relation: label,
      ...measurableOf(call, scope, grain),
      message: `A row of ${label} can meet several rows of ${repeating.join(" and ")}, and ${aggregate} counts it each time.`,
    },
  ];
}

function measurableOf(call: AggregateCall, scope: SelectRelations, grain: number): Pick<VerdictPart, "measurable"> {
  const { alias, keys } = scope.relations[grain]!;
  const key = keys.find((columns) => columns.length > 0);
  if (!key || alias === "") return {};
  const { kind, body } = kindOf(call.values[0]);
  const value = call.name === "sum" && !call.isDistinct && kind === "column" ? scope.find(body)?.column : undefined;
  return { measurable: { alias, key, ...(value !== undefined && { value }) } };
}

function checkRowCount(aggregate: string, { relations, equalities }: SelectRelations): VerdictPart[] {
  if (relations.length === 0) return [];
  const grains = grainsOf(relations, equalities);
  if (grains.length === 0) {
    const names = relations.map(({ label }) => label).join(", ");
    return [{ kind: "can_inflate", aggregate, message: `${aggregate} counts combinations of rows of ${names}.` }];
  }
  if (grains.some((at) => !relations[at]!.isNullable)) return [];
  const { label } = relations[grains[0]!]!;
  return [
    { kind: "wrong_grain", aggregate, relation: label, message: `${aggregate} also counts rows without a ${label}.` },
  ];
}

/** The columns in an aggregate, for messages. */
export function operandText({ operands }: AggregateCall, scope: SelectRelations): string {
  const uses = scope.columnsIn(operands);
  if (uses.length === 0) return "*";
  return [...new Set(uses.map(({ relation, column }) => `${scope.relations[relation]!.alias}.${column}`))].join(", ");
}
