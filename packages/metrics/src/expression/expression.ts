/** A column of the entity's table, or of another entity's table reached by roles: `customer.is_test`. */
export interface ColumnReference {
  readonly path: readonly string[];
  readonly name: string;
}

export const COMPARISONS = ["=", "<>", "<", "<=", ">", ">="] as const;
export type Comparison = (typeof COMPARISONS)[number];
export type Arithmetic = "+" | "-" | "*" | "/";

export const FUNCTIONS = [
  "abs",
  "coalesce",
  "day",
  "from_epoch",
  "hour",
  "length",
  "lower",
  "month",
  "nullif",
  "quarter",
  "round",
  "trim",
  "upper",
  "weekday",
  "year",
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/**
 * The parsed text of a definition. The grammar is a small part of SQL: no subqueries, no aggregates, and no functions
 * besides `FUNCTIONS`, so that every expression means the same on every database.
 */
export type Expression =
  | { readonly kind: "reference"; readonly reference: ColumnReference }
  /** As decimal text, so that no digit is lost. */
  | { readonly kind: "number"; readonly value: string }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" }
  | { readonly kind: "negate" | "not"; readonly operand: Expression }
  | {
      readonly kind: "arithmetic";
      readonly operator: Arithmetic;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "compare"; readonly operator: Comparison; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "in"; readonly operand: Expression; readonly values: readonly Expression[] }
  | { readonly kind: "like"; readonly operand: Expression; readonly pattern: string }
  | { readonly kind: "is_null"; readonly operand: Expression }
  | { readonly kind: "case"; readonly branches: readonly CaseBranch[]; readonly otherwise: Expression }
  | { readonly kind: "call"; readonly name: FunctionName; readonly operands: readonly Expression[] };

export interface CaseBranch {
  readonly when: Expression;
  readonly result: Expression;
}

/** A column of the entity's own table, or a metric in a computation. */
export const reference = (name: string): Expression => ({ kind: "reference", reference: { path: [], name } });

/** Every reference in an expression, in reading order. */
export function referencesOf(expression: Expression): ColumnReference[] {
  const found: ColumnReference[] = [];
  mapReferences(expression, (reference) => {
    found.push(reference);
    return { kind: "reference", reference };
  });
  return found;
}

/** The expression with each reference replaced. */
export function mapReferences(expression: Expression, map: (reference: ColumnReference) => Expression): Expression {
  if (expression.kind === "reference") return map(expression.reference);
  return mapOperands(expression, (operand) => mapReferences(operand, map));
}

/** The expression with each of its direct operands replaced, in reading order. */
export function mapOperands(expression: Expression, map: (operand: Expression) => Expression): Expression {
  switch (expression.kind) {
    case "reference":
    case "number":
    case "text":
    case "boolean":
    case "null":
      return expression;
    case "negate":
    case "not":
    case "like":
    case "is_null":
      return { ...expression, operand: map(expression.operand) };
    case "arithmetic":
    case "compare":
    case "and":
    case "or":
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case "in":
      return { ...expression, operand: map(expression.operand), values: expression.values.map((value) => map(value)) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map(({ when, result }) => ({ when: map(when), result: map(result) })),
        otherwise: map(expression.otherwise),
      };
    case "call":
      return { ...expression, operands: expression.operands.map((operand) => map(operand)) };
  }
}
