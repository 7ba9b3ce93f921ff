import type { Expression } from "./expression.ts";

type IsReserved = (word: string) => boolean;

const KEYWORDS = new Set("and or not in between like is null true false case when then else end".split(" "));
const PLAIN = /^[\p{L}_][\p{L}\p{N}_$]*$/u;

/** How tightly a kind binds; operands that bind less tightly need parentheses. */
const RANK: Record<Expression["kind"], number> = {
  or: 1,
  and: 2,
  not: 3,
  compare: 4,
  in: 4,
  like: 4,
  is_null: 4,
  arithmetic: 5,
  negate: 7,
  reference: 8,
  number: 8,
  text: 8,
  boolean: 8,
  null: 8,
  case: 8,
  call: 8,
};
const rank = (expression: Expression): number =>
  expression.kind === "arithmetic" && (expression.operator === "*" || expression.operator === "/")
    ? 6
    : RANK[expression.kind];

/**
 * The text of an expression. `parseExpression` reads the same expression from it. Names for which `isReserved` holds are
 * quoted, besides the grammar's own words.
 */
export function writeExpression(expression: Expression, isReserved: IsReserved = () => false): string {
  const write = (operand: Expression): string => writeExpression(operand, isReserved);
  const within = (operand: Expression, least: number): string =>
    rank(operand) >= least ? write(operand) : `(${write(operand)})`;
  switch (expression.kind) {
    case "reference":
      return [...expression.reference.path, expression.reference.name]
        .map((name) => nameText(name, isReserved))
        .join(".");
    case "number":
      return expression.value;
    case "text":
      return quoted(expression.value);
    case "boolean":
      return String(expression.value);
    case "null":
      return "null";
    case "negate":
      // Two signs in a row would cancel out.
      return `-${within(expression.operand, 8)}`;
    case "not":
      return writeNegation(expression.operand, within, write);
    case "arithmetic": {
      const own = rank(expression);
      return `${within(expression.left, own)} ${expression.operator} ${within(expression.right, own + 1)}`;
    }
    case "compare":
      return `${within(expression.left, 5)} ${expression.operator} ${within(expression.right, 5)}`;
    case "and":
    case "or": {
      const own = rank(expression);
      return `${within(expression.left, own)} ${expression.kind} ${within(expression.right, own + 1)}`;
    }
    case "in":
      return `${within(expression.operand, 5)} in (${expression.values.map(write).join(", ")})`;
    case "like":
      return `${within(expression.operand, 5)} like ${quoted(expression.pattern)}`;
    case "is_null":
      return `${within(expression.operand, 5)} is null`;
    case "case": {
      const branches = expression.branches.map(({ when, result }) => `when ${write(when)} then ${write(result)}`);
      const otherwise = expression.otherwise.kind === "null" ? [] : [`else ${write(expression.otherwise)}`];
      return ["case", ...branches, ...otherwise, "end"].join(" ");
    }
    case "call":
      return `${expression.name}(${expression.operands.map(write).join(", ")})`;
  }
}

function writeNegation(
  operand: Expression,
  within: (operand: Expression, least: number) => string,
  write: (operand: Expression) => string,
): string {
  switch (operand.kind) {
    case "in":
      return `${within(operand.operand, 5)} not in (${operand.values.map(write).join(", ")})`;
    case "like":
      return `${within(operand.operand, 5)} not like ${quoted(operand.pattern)}`;
    case "is_null":
      return `${within(operand.operand, 5)} is not null`;
    case "not":
      return `not (${write(operand)})`;
    default:
      return `not ${within(operand, 4)}`;
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function nameText(name: string, isReserved: IsReserved): string {
  const word = name.toLowerCase();
  const isPlain = PLAIN.test(name) && !KEYWORDS.has(word) && !isReserved(word);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}
