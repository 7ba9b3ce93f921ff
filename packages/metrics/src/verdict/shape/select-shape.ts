import { aggregateCalls, multiplyingCall } from "../tree/aggregate-calls.ts";
import { tableText } from "../../model/catalogued-table.ts";
import { grainsOf } from "./determined.ts";
import { type Grouping, groupingOf } from "./grouping.ts";
import { type ColumnUse, fixedKey, hasTwins, NotJudged, outputOf, type QueryShape, sameName } from "./query-shape.ts";
import { repetitionOf } from "./repetition.ts";
import type { SelectRelations } from "./select-relations.ts";
import { isLimitedToOne, kindOf, listOf, nameOf, type SqlNode, withoutPositions } from "../tree/sql-node.ts";
import { classOfExpression } from "./value-class.ts";
import type { ReadOutput } from "./read-output.ts";

/** The columns and keys of a SELECT's result. */
export function selectShape(select: SqlNode, scope: SelectRelations): QueryShape {
  const expressions = listOf(select["expressions"]);
  const outputs = expressions.flatMap((node, at) => readOutput(node, at, scope));
  const multiplying = multiplyingCall(expressions);
  const isOne = isLimitedToOne(select["limit"]);
  const grouping = groupingOf(select, outputs);
  const hasMerged = scope.joins.some(({ isMerged }) => isMerged);
  if (hasMerged && expressions.some((node) => kindOf(node).kind === "star") && grouping.usesPositions) {
    throw new NotJudged("It groups by the position of a column behind a star.");
  }
  const shown = outputs.map(({ node: _node, use: _use, ...output }, at) => {
    const repeats = isOne ? undefined : repetitionOf(outputs[at]!, outputs, grouping, scope);
    const { repeats: _before, ...rest } = output;
    return { ...rest, ...(repeats && { repeats }) };
  });
  const keys = isOne ? [[]] : keysOf(select, outputs, grouping, scope);
  const isUsable = (key: readonly string[]): boolean =>
    key.every((name) => outputs.filter((output) => sameName(output.name, name)).length === 1);
  return {
    outputs: shown,
    keys: hasTwins(outputs) ? keys.filter(isUsable) : keys,
    fixed: fixedIn(scope),
    ...(multiplying !== undefined && { unclear: `${multiplying} could return several rows.` }),
  };
}

function readOutput(node: unknown, at: number, scope: SelectRelations): ReadOutput[] {
  const { kind, body } = kindOf(node);
  if (kind === "star") return starOutputs(body, scope);
  if (kind === "alias") {
    const inner = readOutput(body["this"], at, scope)[0]!;
    return [{ ...inner, name: nameOf(body["alias"]) ?? inner.name }];
  }
  const use = kind === "column" ? scope.find(body) : undefined;
  if (use) {
    const known = outputOf(scope.relations[use.relation]!, use.column)!;
    return [{ ...known, name: nameOf(body["name"]) ?? "", node, use }];
  }
  const name = kind === "column" ? (nameOf(body["name"]) ?? "") : `column ${at + 1}`;
  const sources = new Set(
    scope
      .columnsIn(node)
      .flatMap(({ relation, column }) => [...(outputOf(scope.relations[relation]!, column)?.sources ?? [])]),
  );
  const valueClass = classOfExpression(node, (column) => scope.classOf(column));
  return [{ name, node, sources, ...(valueClass && { valueClass }) }];
}

function starOutputs(body: SqlNode, scope: SelectRelations): ReadOutput[] {
  if (listOf(body["except"]).length > 0 || listOf(body["replace"]).length > 0 || listOf(body["rename"]).length > 0) {
    throw new NotJudged("It changes the columns of a star.");
  }
  const table = nameOf(body["table"]);
  return scope.relations.flatMap(({ alias, outputs }, relation) =>
    table === undefined || sameName(alias, table)
      ? outputs.map((output) => ({ ...output, use: { relation, column: output.name } }))
      : [],
  );
}

function keysOf(
  select: SqlNode,
  outputs: readonly ReadOutput[],
  grouping: Grouping,
  scope: SelectRelations,
): string[][] {
  const names = outputs.map(({ name }) => name);
  const distinctOn = listOf(select["distinct_on"]);
  if (distinctOn.length > 0) return keyOf(distinctOn, outputs, scope);
  const isAggregated = aggregateCalls([select["expressions"], select["having"]]).some(({ isWindow }) => !isWindow);
  const own = grouping.hasSubtotals
    ? []
    : grouping.expressions
      ? keyOf(grouping.expressions, outputs, scope)
      : isAggregated
        ? [[]]
        : rowKeys(outputs, scope, select);
  return select["distinct"] === true ? [...own, names] : own;
}

/** The outputs that show the given expressions, if all of them are shown. */
function keyOf(expressions: readonly unknown[], outputs: readonly ReadOutput[], scope: SelectRelations): string[][] {
  const found = expressions.map((expression) => {
    const { kind, body } = kindOf(expression);
    if (kind === "literal") return outputs[Number(body["value"]) - 1]?.name;
    const alias = kind === "column" && !body["table"] ? nameOf(body["name"]) : undefined;
    const use = kind === "column" && (alias === undefined || scope.isKnown(body)) ? scope.find(body) : undefined;
    return outputs.find((output) =>
      use
        ? output.use?.relation === use.relation && sameName(output.use.column, use.column)
        : (alias !== undefined && sameName(output.name, alias)) ||
          withoutPositions(output.node) === withoutPositions(expression),
    )?.name;
  });
  return found.every((name) => name !== undefined) ? [found] : [];
}

/** Keys of relations that appear at most once in the join, and `row_number()` within its partition. */
function rowKeys(outputs: readonly ReadOutput[], scope: SelectRelations, select: SqlNode): string[][] {
  const shownAs = (use: ColumnUse): string | undefined =>
    outputs.find((output) => output.use?.relation === use.relation && sameName(output.use.column, use.column))?.name;
  const isConstant = (use: ColumnUse): boolean =>
    scope.equalities.some(
      ({ left, right }) => right === undefined && left.relation === use.relation && sameName(left.column, use.column),
    );
  const ofRelations = grainsOf(scope.relations, scope.equalities).flatMap((relation) => {
    if (scope.relations[relation]!.isNullable) return [];
    return scope.relations[relation]!.keys.flatMap((key) => {
      // A column that a condition fixes does not tell rows apart.
      const needed = key.filter((column) => !isConstant({ relation, column }));
      const shown = needed.map((column) => shownAs({ relation, column }));
      return shown.every((name) => name !== undefined) ? [shown] : [];
    });
  });
  if (select["qualify"]) return ofRelations;
  const numbered = outputs.flatMap(({ name, node }) => {
    const { kind, body } = kindOf(node);
    if (kind !== "window_function" || !("row_number" in kindOf({ call: body["this"] }).body)) return [];
    const over = kindOf({ over: body["over"] }).body;
    // A named window has its partition elsewhere.
    if (over["window_name"]) return [];
    return keyOf(listOf(over["partition_by"]), outputs, scope).map((key) => [...key, name]);
  });
  return [...ofRelations, ...numbered];
}

/** Stored columns that a condition compares with a literal, of tables that are read once. */
function fixedIn({ relations, equalities }: SelectRelations): ReadonlyMap<string, string> {
  const readers = (table: string): number =>
    relations.filter(({ outputs }) => outputs.some(({ sources }) => sources?.has(table))).length;
  const own = equalities.flatMap(({ left, literal }) => {
    const base = literal === undefined ? undefined : outputOf(relations[left.relation]!, left.column)?.base;
    if (!base || readers(tableText(base.table)) !== 1) return [];
    return [[fixedKey(tableText(base.table), base.column), literal!] as const];
  });
  return new Map([...relations.flatMap(({ fixed }) => [...(fixed ?? [])]), ...own]);
}
