import { aggregateCalls, isCombining } from "../tree/aggregate-calls.ts";
import { determinedBy } from "./determined.ts";
import type { Grouping } from "./grouping.ts";
import { type ColumnUse, outputOf, type Repetition, sameName } from "./query-shape.ts";
import type { ReadOutput } from "./read-output.ts";
import type { SelectRelations } from "./select-relations.ts";
import { childrenOf, kindOf } from "../tree/sql-node.ts";
import { finestOf } from "./term-grain.ts";
import { termsOf, withoutConditions } from "../tree/value-terms.ts";

/**
 * Whether a SELECT shows one value in several rows: an order's total for each of its lines. An outer aggregate would count it
 * several times, even though it reads from this query alone.
 */
export function repetitionOf(
  output: ReadOutput,
  outputs: readonly ReadOutput[],
  grouping: Grouping,
  scope: SelectRelations,
): Repetition | undefined {
  if (grouping.hasSubtotals) return { label: "groups and their subtotals" };
  const window = windowIn(output.node);
  if (window) return window;
  for (const term of output.use ? [undefined] : termsOf(output.node)) {
    const uses = output.use ? [output.use] : scope.columnsIn(withoutAggregates(withoutConditions(term)));
    const found = usesRepeated(uses, outputs, grouping, scope);
    if (found) return found;
  }
  return undefined;
}

function usesRepeated(
  uses: readonly ColumnUse[],
  outputs: readonly ReadOutput[],
  grouping: Grouping,
  scope: SelectRelations,
): Repetition | undefined {
  if (uses.length === 0) return undefined;
  const before = uses
    .map(({ relation, column }) => outputOf(scope.relations[relation]!, column)?.repeats)
    .find((repeats) => repeats !== undefined);
  const grouped = groupedUses(grouping, outputs, scope);
  if (before) return grouped && isSingled(before, grouped, scope) ? undefined : before;
  const { relations, equalities } = scope;
  const grain = finestOf([...new Set(uses.map(({ relation }) => relation))], scope);
  if (grain === undefined) return { label: "several tables" };
  const fixed = determinedBy([grain], relations, equalities);
  const { label, keys, outputs: columns } = relations[grain]!;
  const base = columns.find((column) => column.base)?.base?.table;
  const repetition = scope.originOf(grain, { label, ...(base && { table: base }) });
  if (!grouped) return relations.every((_, at) => fixed.has(at)) ? undefined : repetition;
  // Groups that do not tell the rows apart have values of their own.
  const tells = keys.some((key) =>
    key.every((column) => grouped.some((use) => use?.relation === grain && sameName(use.column, column))),
  );
  return tells && grouped.some((use) => use === undefined || !fixed.has(use.relation)) ? repetition : undefined;
}

/** The columns by which rows are combined; `undefined` stands for a computed one. Undefined if rows are not combined. */
function groupedUses(
  { expressions, isDistinct }: Grouping,
  outputs: readonly ReadOutput[],
  scope: SelectRelations,
): (ColumnUse | undefined)[] | undefined {
  if (!expressions)
    return isDistinct ? outputs.flatMap((output) => output.use ?? usesIn(output.node, scope)) : undefined;
  return expressions.flatMap((expression) => {
    const { kind, body } = kindOf(expression);
    const output = kind === "literal" ? outputs[Number(body["value"]) - 1] : undefined;
    if (output) return output.use ?? usesIn(output.node, scope);
    if (kind === "column" && !scope.isKnown(body)) {
      const named = outputs.find(({ name }) => sameName(name, String(kindOf({ name: body["name"] }).body["name"])));
      return named ? (named.use ?? usesIn(named.node, scope)) : [undefined];
    }
    return usesIn(expression, scope);
  });
}

/** An expression is a function of its columns, unless it has a window or a random value. */
function usesIn(node: unknown, scope: SelectRelations): (ColumnUse | undefined)[] {
  return hasOwnValue(node) ? [undefined] : scope.columnsIn(node);
}

const hasOwnValue = (node: unknown): boolean =>
  ["window_function", "rand", "random", "uuid", "subquery"].includes(kindOf(node).kind) ||
  childrenOf(node).some(hasOwnValue);

/** Grouping by a key of the origin, and by nothing else, shows each of its rows once again. */
function isSingled(origin: Repetition, grouped: readonly (ColumnUse | undefined)[], scope: SelectRelations): boolean {
  const columns = grouped.map((use) => use && outputOf(scope.relations[use.relation]!, use.column));
  if (columns.some((column) => column?.repeats !== origin)) return false;
  return (origin.table?.keys ?? []).some((key) =>
    key.every((name) => columns.some((column) => column?.base && sameName(column.base.column, name))),
  );
}

/** Sums over windows, and values of one row of a window, are shown for each of its rows. */
function windowIn(node: unknown): Repetition | undefined {
  const { kind, body } = kindOf(node);
  if (kind === "subquery" || kind === "select") return undefined;
  if (kind === "window_function") {
    const call = kindOf(body["this"]).kind;
    const isShared = aggregateCalls(node).length > 0 || ["first_value", "last_value", "nth_value"].includes(call);
    return isShared ? { label: "a window" } : undefined;
  }
  return childrenOf(node).map(windowIn).find(Boolean);
}

/** Values inside of sums have become values of the group. Extremes show a value of one row. */
function withoutAggregates(node: unknown): unknown {
  const { kind, body } = kindOf(node);
  if (["column", "subquery", "select", "star"].includes(kind)) return node;
  if (isCombining(kind, body)) return undefined;
  return childrenOf(node).map(withoutAggregates);
}
