import type { QueryWord } from "./analyse-query.ts";

/** A boolean condition on a document's terms. */
export type SearchExpression =
  | { term: string }
  | { prefix: string }
  | { all: SearchExpression[] }
  | { any: SearchExpression[] };

export const anyOf = (terms: readonly string[]): SearchExpression => ({ any: terms.map((term) => ({ term })) });

export const expressionOf = ({ terms, prefix }: Pick<QueryWord, "terms" | "prefix">): SearchExpression => ({
  any: [...terms.map((term) => ({ term })), ...(prefix === undefined ? [] : [{ prefix }])],
});

/** FTS5 syntax. Terms contain no quotes, so quoting them is safe. */
export function toFts(expression: SearchExpression): string {
  if ("term" in expression) return `"${expression.term}"`;
  if ("prefix" in expression) return `"${expression.prefix}"*`;
  const [operator, inner] = "all" in expression ? [" AND ", expression.all] : [" OR ", expression.any];
  return inner.length === 1 ? toFts(inner[0]!) : `(${inner.map(toFts).join(operator)})`;
}

/** Postgres tsquery syntax. */
export function toTsquery(expression: SearchExpression): string {
  if ("term" in expression) return `'${expression.term}'`;
  if ("prefix" in expression) return `'${expression.prefix}':*`;
  const [operator, inner] = "all" in expression ? [" & ", expression.all] : [" | ", expression.any];
  return inner.length === 1 ? toTsquery(inner[0]!) : `(${inner.map(toTsquery).join(operator)})`;
}
