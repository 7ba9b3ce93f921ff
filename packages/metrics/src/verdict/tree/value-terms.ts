import { childrenOf, kindOf, listOf } from "./sql-node.ts";

/** They choose rows or values, and are no part of a value. */
const CONDITIONS = new Set(
  `eq neq gt gte lt lte and or not in between like i_like is is_null is_true is_false null_safe_eq null_safe_neq exists
  regexp_like similar_to any all`.split(/\s+/),
);

/**
 * The values that an aggregate adds up, each of which has its own grain: `sum(a.x + b.y)` is `sum(a.x) + sum(b.y)`, and of a
 * CASE only the results count, of NULLIF only the first operand.
 */
export function termsOf(node: unknown): unknown[] {
  const { kind, body } = kindOf(node);
  switch (kind) {
    case "paren":
    case "neg":
    case "cast":
    case "alias":
      return termsOf(body["this"]);
    case "add":
    case "sub":
      return [...termsOf(body["left"]), ...termsOf(body["right"])];
    case "case":
      return [...listOf(body["whens"]).map((when) => listOf(when)[1]), body["else_"]].flatMap(termsOf);
    case "if_func":
      return [body["true_value"], body["false_value"]].flatMap(termsOf);
    default:
      if (isNullIf(node)) return termsOf(listOf(body["args"])[0]);
      return node === undefined || node === null ? [] : [node];
  }
}

/** The parts of an expression without its conditions. */
export function withoutConditions(node: unknown): unknown {
  const { kind } = kindOf(node);
  if (CONDITIONS.has(kind)) return undefined;
  if (kind === "case" || kind === "if_func" || isNullIf(node)) return termsOf(node).map(withoutConditions);
  if (kind === "column" || kind === "subquery" || kind === "select" || kind === "star") return node;
  return childrenOf(node).map(withoutConditions);
}

function isNullIf(node: unknown): boolean {
  const { kind, body } = kindOf(node);
  return kind === "function" && String(body["name"]).toLowerCase() === "nullif";
}
