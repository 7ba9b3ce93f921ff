import type { Dialect } from "@tandem/connectors";
import { type AggregateCall, aggregateCalls } from "../tree/aggregate-calls.ts";
import { grainsOf } from "../shape/determined.ts";
import { outputOf } from "../shape/query-shape.ts";
import type { SelectRelations } from "../shape/select-relations.ts";
import { splitSelect } from "../tree/split-select.ts";
import { childrenOf, kindOf, listOf, nameOf, type SqlNode, withoutPositions } from "../tree/sql-node.ts";
import { termsOf } from "../tree/value-terms.ts";
import { finestOf, usedBy } from "../shape/term-grain.ts";
import { nodeWriter, quoteName } from "./write-node.ts";

export interface RewriteInput {
  readonly sql: string;
  readonly select: SqlNode;
  readonly scope: SelectRelations;
  readonly dialect: Dialect;
}

/** One aggregate in the statement, as a column `v1` of the rows at its grain. */
interface Slot {
  readonly tree: string;
  readonly name: string;
  readonly call: AggregateCall;
  readonly grain: number;
  /** The text of its value in the original scope. */
  readonly value: string;
}

const SUPPORTED = new Set(["sum", "count", "avg", "min", "max", "total"]);
const UNSUPPORTED_CLAUSES = ["distinct", "qualify", "windows", "offset", "fetch", "sample", "for"];

/**
 * The same statement with each aggregate over rows that are different by the key of its grain: in a named query per grain, stacked
 * by UNION ALL. Undefined if a part of it is not known how to write. The result is a proposal: the caller judges it.
 */
export function rewriteSelect({ sql, select, scope, dialect }: RewriteInput): string | undefined {
  const split = splitSelect(sql);
  const isPlain = UNSUPPORTED_CLAUSES.every((clause) => isEmpty(select[clause])) && isEmpty(select["distinct_on"]);
  if (!split || !isPlain) return undefined;
  const write = nodeWriter(dialect);
  const groups = groupsOf(select, scope);
  const groupTexts = groups?.map(write);
  const slots = slotsOf(select, scope, dialect);
  if (!groups || !groupTexts?.every((text) => text !== undefined) || !slots || slots.length === 0) return undefined;
  const grains = [...new Set(slots.map(({ grain }) => grain))];
  // Postgres takes two NULLs in a row of parts for text.
  if (grains.length > (dialect === "postgres" ? 2 : 6)) return undefined;
  const groupNames = groupTexts.map((_, at) => `g${at + 1}`);
  const parts = grains.map((grain, at) => {
    const keys = keyOf(grain, scope);
    const own = slots.filter((slot) => slot.grain === grain);
    const columns = keys && [
      ...groupTexts.map((text, index) => `${text} AS ${groupNames[index]}`),
      ...keys.map((key, index) => `${scope.relations[grain]!.alias}.${quoteName(key, dialect)} AS k${index + 1}`),
      ...own.map(({ value, name }) => `${value} AS ${name}`),
    ];
    return columns && `tandem_${at + 1} AS (\n  SELECT DISTINCT ${columns.join(", ")}\n  ${split.rows}\n)`;
  });
  if (!parts.every((part) => part !== undefined)) return undefined;
  const stacked = `tandem_all AS (\n  ${grains
    .map((grain, at) => {
      const values = slots.map((slot) => (slot.grain === grain ? slot.name : `NULL AS ${slot.name}`));
      return `SELECT ${[...groupNames, ...values].join(", ")} FROM tandem_${at + 1}`;
    })
    .join("\n  UNION ALL\n  ")}\n)`;
  const named = grains.length > 1 ? [...parts, stacked] : parts;
  const last = lastSelect(select, groups, groupNames, slots, dialect);
  if (last === undefined) return undefined;
  const from = grains.length > 1 ? "tandem_all" : "tandem_1";
  const group = groupNames.length > 0 ? [`GROUP BY ${groupNames.join(", ")}`] : [];
  const head = `${split.named === "" ? "WITH" : `${split.named},`} ${named.join(", ")}`;
  return [head, `SELECT ${last.outputs}`, `FROM ${from}`, ...group, ...last.rest].join("\n");
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);

/** The grouped expressions; positions and aliases stand for outputs. */
function groupsOf(select: SqlNode, scope: SelectRelations): unknown[] | undefined {
  const clause = kindOf({ group: select["group_by"] }).body;
  if (clause["all"] === true) return undefined;
  const outputs = listOf(select["expressions"]);
  const resolved = listOf(clause["expressions"]).map((expression) => {
    const { kind, body } = kindOf(expression);
    if (kind === "literal") return withoutAlias(outputs[Number(body["value"]) - 1]);
    if (kind !== "column" || body["table"] || scope.isKnown(body)) return expression;
    return withoutAlias(outputs.find((output) => nameOf(kindOf(output).body["alias"]) === nameOf(body["name"])));
  });
  return resolved.some((one) => one === undefined || kindOf(one).kind === "star") ? undefined : resolved;
}

const withoutAlias = (node: unknown): unknown => (kindOf(node).kind === "alias" ? kindOf(node).body["this"] : node);

function slotsOf(select: SqlNode, scope: SelectRelations, dialect: Dialect): Slot[] | undefined {
  const trees = new Map<string, unknown>();
  for (const clause of [select["expressions"], select["having"], select["order_by"]]) collectCalls(clause, trees);
  const slots = [...trees].map(([tree, node], at) => slotOf(tree, node, `v${at + 1}`, scope, dialect));
  return slots.every((slot) => slot !== undefined) ? slots : undefined;
}

/** The outermost aggregate calls, once each. */
function collectCalls(node: unknown, found: Map<string, unknown>): void {
  const { kind, body } = kindOf(node);
  const isCall = kind !== "" && SUPPORTED.has(kind === "function" ? String(body["name"]).toLowerCase() : kind);
  if (isCall && (kind === "function" || "this" in body || "star" in body)) {
    found.set(withoutPositions(node), node);
    return;
  }
  for (const child of childrenOf(node)) collectCalls(child, found);
}

function slotOf(tree: string, node: unknown, name: string, scope: SelectRelations, dialect: Dialect): Slot | undefined {
  const [call, ...others] = aggregateCalls(node);
  if (!call || others.length > 0 || call.isWindow || call.operands.length > call.values.length) return undefined;
  if (call.isDistinct && !call.isImmune) return undefined;
  const used = [...new Set(call.values.flatMap(termsOf).flatMap((term) => usedBy(term, scope)))];
  if (used.length === 0) {
    const grains = call.values.length > 0 ? [] : grainsOf(scope.relations, scope.equalities);
    const grain = grains.find((at) => !scope.relations[at]!.isNullable) ?? grains[0];
    const [key] = grain === undefined ? [] : (keyOf(grain, scope) ?? []);
    if (grain === undefined || key === undefined) return undefined;
    const { alias, isNullable } = scope.relations[grain]!;
    const value = isNullable ? `CASE WHEN ${alias}.${quoteName(key, dialect)} IS NOT NULL THEN 1 END` : "1";
    return { tree, name, call, grain, value };
  }
  const grain = finestOf(used, scope);
  const value = call.values.length === 1 ? nodeWriter(dialect)(call.values[0]) : undefined;
  return grain === undefined || value === undefined ? undefined : { tree, name, call, grain, value };
}

/** A key of a relation without NULLs, which tells all of its rows apart. */
function keyOf(relation: number, scope: SelectRelations): readonly string[] | undefined {
  const known = scope.relations[relation]!;
  if (known.alias === "") return undefined;
  return known.keys.find((key) =>
    key.every((column) => {
      const base = outputOf(known, column)?.base;
      return base?.table.columns.find(({ name }) => name === base.column)?.isNullable !== true;
    }),
  );
}

function lastSelect(
  select: SqlNode,
  groups: readonly unknown[],
  groupNames: readonly string[],
  slots: readonly Slot[],
  dialect: Dialect,
): { outputs: string; rest: string[] } | undefined {
  const replace = new Map([
    ...groups.map((group, at) => [withoutPositions(group), groupNames[at]!] as const),
    ...slots.map(({ tree, call, name }) => {
      const text = `${call.name.toUpperCase()}(${call.isDistinct ? "DISTINCT " : ""}${name})`;
      return [tree, text] as const;
    }),
  ]);
  const inner = nodeWriter(dialect, replace);
  // A column that was not replaced belongs to the original scope.
  const write = (node: unknown): string | undefined => (hasForeign(node, replace) ? undefined : inner(node));
  const aliases: string[] = [];
  const outputs = listOf(select["expressions"]).map((node) => {
    const { kind, body } = kindOf(node);
    const alias = nameOf(kind === "alias" ? body["alias"] : kind === "column" ? body["name"] : undefined);
    if (alias !== undefined) aliases.push(alias.toLowerCase());
    const text = write(withoutAlias(node));
    return text === undefined || alias === undefined ? text : `${text} AS ${quoteName(alias, dialect)}`;
  });
  const having = kindOf({ having: select["having"] }).body["this"];
  const ordered = listOf(kindOf({ order: select["order_by"] }).body["expressions"]).map((item) => {
    const { body } = kindOf({ item });
    const { kind, body: inside } = kindOf(body["this"]);
    const isAlias =
      kind === "column" && !inside["table"] && aliases.includes((nameOf(inside["name"]) ?? "").toLowerCase());
    const text = isAlias ? nodeWriter(dialect)(body["this"]) : write(body["this"]);
    if (text === undefined || typeof body["nulls_first"] === "boolean" || body["with_fill"]) return undefined;
    return `${text}${body["desc"] === true ? " DESC" : ""}`;
  });
  const limit = kindOf({ limit: select["limit"] }).body["this"];
  const rest = [
    ...(having ? [prefixed("HAVING", write(having))] : []),
    ...(ordered.length > 0
      ? [ordered.every((one) => one !== undefined) ? `ORDER BY ${ordered.join(", ")}` : undefined]
      : []),
    ...(limit ? [prefixed("LIMIT", kindOf(limit).kind === "literal" ? inner(limit) : undefined)] : []),
  ];
  if (!outputs.every((one) => one !== undefined) || !rest.every((one) => one !== undefined)) return undefined;
  return { outputs: outputs.join(", "), rest };
}

const prefixed = (word: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : `${word} ${text}`;

function hasForeign(node: unknown, replace: ReadonlyMap<string, string>): boolean {
  if (replace.has(withoutPositions(node))) return false;
  return kindOf(node).kind === "column" || childrenOf(node).some((child) => hasForeign(child, replace));
}
