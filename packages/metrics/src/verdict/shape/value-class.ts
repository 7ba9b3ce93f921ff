import type { Dialect } from "@tandem/connectors";
import { type OutputColumn, sameName, type ValueClass } from "./query-shape.ts";
import { kindOf, nameOf } from "../tree/sql-node.ts";

const KINDS: Readonly<Record<string, ValueClass>> = {
  integer: "number",
  decimal: "number",
  text: "text",
  uuid: "text",
  date: "day",
  boolean: "boolean",
  binary: "blob",
};

/** Undefined if the class of a computed column is not known. */
export function classOfOutput(output: OutputColumn | undefined, dialect: Dialect): ValueClass | undefined {
  if (!output?.base) return output?.valueClass;
  const { table, column: wanted } = output.base;
  const column = table.columns.find(({ name }) => sameName(name, wanted));
  if (!column) return undefined;
  const type = column.type.trim().toLowerCase();
  if (dialect === "sqlite") return column.hasCollation ? "other" : affinity(type);
  if (type.startsWith("citext")) return "citext";
  if (/^(real|double|float)/.test(type)) return "float";
  if (column.kind === "time") return /with time zone|timestamptz/.test(type) ? "instant" : "local";
  return KINDS[column.kind] ?? "other";
}

/** The rules by which SQLite converts before it compares. */
function affinity(type: string): ValueClass {
  if (type.includes("int")) return "number";
  if (/char|clob|text/.test(type)) return "text";
  if (type === "" || type.includes("blob")) return "blob";
  return "number";
}

/** A quoted literal takes the type of the column. */
export function classOfConstant(node: unknown): ValueClass | undefined {
  const { kind, body } = kindOf(node);
  if (kind === "paren") return classOfConstant(body["this"]);
  if (kind === "boolean") return "boolean";
  return kind === "literal" && body["literal_type"] === "number" ? "number" : undefined;
}

const RESULTS: readonly [ValueClass, RegExp][] = [
  [
    "number",
    /^(sum|count|avg|total|add|sub|mul|div|mod|neg|extract|year|month|day|quarter|week|hour|minute|length|abs|round|floor|ceil|row_number|rank|dense_rank|date_part)$/,
  ],
  [
    "text",
    /^(concat|concat_ws|d_pipe|lower|upper|trim|substring|substr|replace|left|right|strftime|to_char|date_format|format|md5|printf|lpad|rpad)$/,
  ],
  ["local", /^(date_trunc|timestamp_trunc)$/],
  ["day", /^(date|to_date|last_day|make_date)$/],
];

/** The class of a computed value. `columnClass` knows those of columns. */
export function classOfExpression(
  node: unknown,
  columnClass: (body: Readonly<Record<string, unknown>>) => ValueClass | undefined,
): ValueClass | undefined {
  const { kind, body } = kindOf(node);
  if (kind === "column") return columnClass(body);
  if (["paren", "alias", "min", "max", "any_value", "window_function"].includes(kind)) {
    return classOfExpression(body["this"], columnClass);
  }
  const name = kind === "function" ? (typeof body["name"] === "string" ? body["name"] : nameOf(body["name"])) : kind;
  return RESULTS.find(([, names]) => names.test(name?.toLowerCase() ?? ""))?.[0];
}
