import { aggregateCalls } from "./aggregate-calls.ts";
import { grainsOf } from "./determined.ts";
import { type ColumnUse, NotJudged, type OutputColumn, type QueryShape, sameName } from "./query-shape.ts";
import type { SelectRelations } from "./select-relations.ts";
import { kindOf, listOf, nameOf, type SqlNode } from "./sql-node.ts";

interface ReadOutput extends OutputColumn {
  readonly node?: unknown;
  readonly use?: ColumnUse;
}

/** The columns and keys of a SELECT's result. */
export function selectShape(select: SqlNode, scope: SelectRelations): QueryShape {
  const outputs = listOf(select["expressions"]).flatMap((node, at) => readOutput(node, at, scope));
  const shown = outputs.map(({ name, base }): OutputColumn => ({ name, ...(base && { base }) }));
  return { outputs: shown, keys: keysOf(select, outputs, scope) };
}

function readOutput(node: unknown, at: number, scope: SelectRelations): ReadOutput[] {
  const { kind, body } = kindOf(node);
  if (kind === "star") return starOutputs(body, scope);
  if (kind === "alias") {
    const inner = readOutput(body["this"], at, scope)[0]!;
    return [{ ...inner, name: nameOf(body["alias"]) ?? inner.name }];
  }
  if (kind === "column") {
    const use = scope.find(body);
    const name = nameOf(body["name"]) ?? "";
    if (!use) return [{ name, node }];
    const base = scope.relations[use.relation]!.outputs.find((output) => sameName(output.name, use.column))?.base;
    return [{ name, node, use, ...(base && { base }) }];
  }
  return [{ name: `column ${at + 1}`, node }];
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

function keysOf(select: SqlNode, outputs: readonly ReadOutput[], scope: SelectRelations): string[][] {
  const names = outputs.map(({ name }) => name);
  const isLimitedToOne = kindOf({ limit: select["limit"] }).body;
  if (kindOf(isLimitedToOne["this"]).body["value"] === "1") return [[]];
  const distinctOn = listOf(select["distinct_on"]);
  if (distinctOn.length > 0) return keyOf(distinctOn, outputs, scope);
  const grouped = listOf(kindOf({ group: select["group_by"] }).body["expressions"]);
  const isAggregated = aggregateCalls([select["expressions"], select["having"]]).some(({ isWindow }) => !isWindow);
  const own =
    grouped.length > 0 ? keyOf(grouped, outputs, scope) : isAggregated ? [[]] : rowKeys(outputs, scope, select);
  return select["distinct"] === true ? [...own, names] : own;
}

/** The outputs that show the given expressions, if all of them are shown. */
function keyOf(expressions: readonly unknown[], outputs: readonly ReadOutput[], scope: SelectRelations): string[][] {
  const found = expressions.map((expression) => {
    const { kind, body } = kindOf(expression);
    if (kind === "literal") return outputs[Number(body["value"]) - 1]?.name;
    if (kind === "function" && /^(rollup|cube|grouping sets)$/i.test(String(body["name"]))) return undefined;
    const alias = kind === "column" && !body["table"] ? nameOf(body["name"]) : undefined;
    const use = kind === "column" && (alias === undefined || scope.isKnown(body)) ? scope.find(body) : undefined;
    return outputs.find((output) =>
      use
        ? output.use?.relation === use.relation && sameName(output.use.column, use.column)
        : (alias !== undefined && sameName(output.name, alias)) || isSameTree(output.node, expression),
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
    const partition = listOf(kindOf({ over: body["over"] }).body["partition_by"]);
    return keyOf(partition, outputs, scope).map((key) => [...key, name]);
  });
  return [...ofRelations, ...numbered];
}

const isSameTree = (a: unknown, b: unknown): boolean => withoutPositions(a) === withoutPositions(b);
const withoutPositions = (node: unknown): string =>
  JSON.stringify(node, (key, value: unknown) => (key === "span" ? undefined : value));
