import type { QueryShape } from "./query-shape.ts";
import { childrenOf, kindOf, listOf, nameOf } from "../tree/sql-node.ts";
import { callName } from "../tree/aggregate-calls.ts";

/** `generate_series(1, 10) AS g(n)`: a series of different values. Undefined for other functions. */
export function tableFunctionShape(item: unknown): { alias: string; shape: QueryShape } | undefined {
  const { kind, body } = kindOf(item);
  const call = kind === "alias" ? kindOf(body["this"]) : { kind, body };
  const name = callName(call.kind, call.body);
  if (name !== "generate_series" && name !== "range") return undefined;
  if (usesColumns(call.body)) return undefined;
  const alias = (kind === "alias" ? nameOf(body["alias"]) : undefined) ?? name;
  const column = nameOf(listOf(body["column_aliases"])[0]) ?? (kind === "alias" ? alias : name);
  const isNumeric = listOf(call.body["args"]).every((argument) => kindOf(argument).body["literal_type"] === "number");
  const output = { name: column, ...(isNumeric && { valueClass: "number" as const }) };
  return { alias, shape: { outputs: [output], keys: [[column]] } };
}

/** `(VALUES (1, 2)) AS v(a, b)`. */
export function valuesShape(node: unknown, names: readonly (string | undefined)[]): QueryShape | undefined {
  if (kindOf(node).kind !== "values" || names.length === 0 || usesColumns(node)) return undefined;
  return { outputs: names.map((name) => ({ name: name ?? "" })), keys: [] };
}

const usesColumns = (node: unknown): boolean => kindOf(node).kind === "column" || childrenOf(node).some(usesColumns);
