import type { Expression } from "../../expression/expression.ts";

/** An expression as a person writes it in a definition. */
export function expressionText(expression: Expression): string {
  const text = expressionText;
  switch (expression.kind) {
    case "reference":
      return [...expression.reference.path, expression.reference.name].join(".");
    case "number":
      return expression.value;
    case "text":
      return `'${expression.value.replaceAll("'", "''")}'`;
    case "boolean":
      return String(expression.value);
    case "null":
      return "null";
    case "negate":
      return `-${text(expression.operand)}`;
    case "not":
      return `not ${text(expression.operand)}`;
    case "arithmetic":
    case "compare":
      return `${text(expression.left)} ${expression.operator} ${text(expression.right)}`;
    case "and":
    case "or":
      return `(${text(expression.left)} ${expression.kind} ${text(expression.right)})`;
    case "in":
      return `${text(expression.operand)} in (${expression.values.map(text).join(", ")})`;
    case "like":
      return `${text(expression.operand)} like '${expression.pattern}'`;
    case "is_null":
      return `${text(expression.operand)} is null`;
    case "case":
      return `case ${expression.branches.map(({ when, result }) => `when ${text(when)} then ${text(result)}`).join(" ")} else ${text(expression.otherwise)} end`;
    case "call":
      return `${expression.name}(${expression.operands.map(text).join(", ")})`;
  }
}
