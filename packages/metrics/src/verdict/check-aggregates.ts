import { type AggregateCall, aggregateCalls, isImmune } from "./aggregate-calls.ts";
import { determinedBy, grainsOf } from "./determined.ts";
import { NotJudged } from "./query-shape.ts";
import type { SelectRelations } from "./select-relations.ts";
import { kindOf, listOf, type SqlNode } from "./sql-node.ts";
import type { VerdictPart } from "./verdict.ts";

/** Aggregates that can count a row more than once. */
export function checkAggregates(select: SqlNode, scope: SelectRelations): VerdictPart[] {
  const calls = aggregateCalls([select["expressions"], select["having"], select["order_by"], select["qualify"]]);
  if (calls.length > 0 && select["qualify"]) throw new NotJudged("It filters the rows of a window with QUALIFY.");
  return calls.flatMap((call) => (isImmune(call) ? [] : checkCall(call, scope)));
}

function checkCall(call: AggregateCall, scope: SelectRelations): VerdictPart[] {
  const { relations, equalities } = scope;
  const uses = scope.columnsIn(call.operands);
  const used = [...new Set(uses.map(({ relation }) => relation))];
  const aggregate = `${call.name}(${call.isDistinct ? "distinct " : ""}${operandText(call, scope)})`;
  if (used.length === 0) return checkRowCount(aggregate, scope);
  // The finest relation: its row fixes those of the others in the aggregate.
  const grain = used.find((relation) => {
    const fixed = determinedBy([relation], relations, equalities);
    return used.every((other) => fixed.has(other));
  });
  if (grain === undefined) {
    const names = used.map((relation) => relations[relation]!.label).join(" and ");
    return [
      {
        kind: "wrong_grain",
        aggregate,
        message: `${aggregate} combines ${names}, of which neither fixes a row of the other.`,
      },
    ];
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
  const { kind, body } = kindOf(listOf(call.operands)[0]);
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

function operandText({ operands }: AggregateCall, scope: SelectRelations): string {
  const uses = scope.columnsIn(operands);
  if (uses.length === 0) return "*";
  return [...new Set(uses.map(({ relation, column }) => `${scope.relations[relation]!.alias}.${column}`))].join(", ");
}
