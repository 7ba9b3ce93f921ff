import type { Dialect } from "@tandem/connectors";
import type { Arithmetic, Comparison, Expression, FunctionName } from "../expression/expression.ts";
import { type Granularity, GRANULARITIES } from "../sql/granularity.ts";
import { kindOf, listOf, nameOf, type SqlNode } from "../verdict/tree/sql-node.ts";
import { isPresent } from "./parse-fragment.ts";
import {
  asCondition,
  compareTerms,
  isNumber,
  isWhole,
  plain,
  type Term,
  type TermType,
  untranslatable,
} from "./sql-term.ts";

export interface SqlScope {
  readonly dialect: Dialect;
  /** The meaning of a column. `qualifiers` are the names in front of it. */
  readonly resolve: (qualifiers: readonly string[], name: string) => Term;
  /** The meaning of an aggregate. Default: it is refused. */
  readonly aggregate?: (node: unknown) => Term;
}

const AGGREGATE_KINDS = new Set(["sum", "avg", "min", "max", "count", "median"]);

const COMPARISONS: Record<string, Comparison> = { eq: "=", neq: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" };
const ARITHMETIC: Record<string, Arithmetic> = { add: "+", sub: "-", mul: "*", div: "/" };
const PARTS = new Set<string>(["year", "quarter", "month", "day", "hour"]);
/** Fields that carry no meaning: positions, comments and spellings. */
const IGNORED =
  /^(span|inferred_type|.*comments|original_name|name|double_colon_syntax|real_spelling|alias_explicit_as|quoted|else_|no_parens|join_mark|decimal_spelling)$/;

/** Translates SQL into the grammar of definitions. Anything that it does not know exactly is refused. */
export function translateSql(node: unknown, scope: SqlScope): Term {
  const { kind, body } = kindOf(node);
  const term = (inner: unknown): Term => translateSql(inner, scope);
  const condition = (inner: unknown): Expression => asCondition(term(inner));
  const only = (...keys: string[]): void => refuseOthers(kind, body, keys);
  if (AGGREGATE_KINDS.has(kind)) {
    if (scope.aggregate) return scope.aggregate(node);
    throw untranslatable(`An aggregate (${kind}) stands inside a row's expression.`);
  }
  const comparison = COMPARISONS[kind];
  if (comparison) {
    only("left", "right");
    return compareTerms(comparison, term(body["left"]), term(body["right"]));
  }
  const operator = ARITHMETIC[kind];
  if (operator) {
    only("left", "right");
    return arithmetic(operator, term(body["left"]), term(body["right"]), scope);
  }
  switch (kind) {
    case "column": {
      only("table");
      const table = nameOf(body["table"]);
      return scope.resolve(table === undefined ? [] : [table], nameOf(body["name"]) ?? "");
    }
    case "dot":
      only("this", "field");
      return scope.resolve(dotted(body["this"]), nameOf(body["field"]) ?? "");
    case "literal":
      only("literal_type", "value");
      return literal(body);
    case "boolean":
      return { expression: { kind: "boolean", value: body["value"] === true }, type: "boolean" };
    case "null":
      return { expression: { kind: "null" }, type: "unknown" };
    case "paren":
      only("this");
      return term(body["this"]);
    case "neg": {
      only("this");
      const operand = term(body["this"]);
      return { expression: { kind: "negate", operand: plain(operand) }, type: operand.type };
    }
    case "not":
      only("this");
      return { expression: { kind: "not", operand: condition(body["this"]) }, type: "boolean" };
    case "and":
    case "or":
      only("left", "right");
      return { expression: chain(kind, condition(body["left"]), condition(body["right"])), type: "boolean" };
    case "is_null":
      only("this", "not");
      // Rounding keeps NULL as it is.
      return negated(body["not"], { kind: "is_null", operand: term(body["this"]).expression });
    case "is_true":
    case "is_false": {
      only("this", "not");
      const isTrue: Expression = {
        kind: "call",
        name: "coalesce",
        operands: [
          kind === "is_true" ? condition(body["this"]) : { kind: "not", operand: condition(body["this"]) },
          { kind: "boolean", value: false },
        ],
      };
      return negated(body["not"], isTrue);
    }
    case "in": {
      only("this", "expressions", "not");
      const values = listOf(body["expressions"]).map(term);
      return negated(body["not"], isIn(term(body["this"]), values));
    }
    case "between": {
      only("this", "low", "high", "not");
      const operand = term(body["this"]);
      const low = compareTerms(">=", operand, term(body["low"])).expression;
      const high = compareTerms("<=", operand, term(body["high"])).expression;
      return negated(body["not"], { kind: "and", left: low, right: high });
    }
    case "like":
    case "i_like":
      only("left", "right", "not");
      return negated(body["not"], like(term(body["left"]), term(body["right"]), kind === "i_like", scope.dialect));
    case "case":
      only("operand", "whens");
      return caseTerm(body, term, condition);
    case "if_func":
      only("condition", "true_value", "false_value");
      return choice(
        [{ when: condition(body["condition"]), result: term(body["true_value"]) }],
        isPresent(body["false_value"]) ? term(body["false_value"]) : undefined,
      );
    case "cast":
      only("this", "to");
      return cast(term(body["this"]), kindOf({ to: body["to"] }).body, scope.dialect);
    case "coalesce":
      only("expressions");
      return call("coalesce", listOf(body["expressions"]).map(term));
    case "lower":
    case "upper":
    case "abs":
      only("this");
      return call(kind, [term(body["this"])]);
    case "trim":
      only("this", "position");
      if (isPresent(body["position"]) && body["position"] !== "Both") break;
      return call("trim", [term(body["this"])]);
    case "length":
      only("this");
      if (scope.dialect === "mysql") break;
      return call("length", [term(body["this"])]);
    case "year":
    case "quarter":
    case "month":
    case "day":
    case "hour":
      only("this");
      return call(kind, [term(body["this"])]);
    case "extract":
      only("this", "field");
      return datePart(body["field"], term(body["this"]));
    case "function":
      only("args");
      return functionTerm(body, term);
  }
  throw untranslatable(`${describe(kind, body)} has no counterpart in expressions of metrics.`);
}

/** The parser balances long chains; written from left to right they need no parentheses. */
function chain(kind: "and" | "or", left: Expression, right: Expression): Expression {
  if (right.kind !== kind) return { kind, left, right };
  return { kind, left: chain(kind, left, right.left), right: right.right };
}

function refuseOthers(kind: string, body: SqlNode, keys: readonly string[]): void {
  const other = Object.entries(body).find(
    ([key, value]) => !keys.includes(key) && !IGNORED.test(key) && isPresent(value),
  );
  if (other) throw untranslatable(`${kind} with \`${other[0]}\` has no counterpart in expressions of metrics.`);
}

const describe = (kind: string, body: SqlNode): string =>
  typeof body["name"] === "string" ? `The function ${body["name"]}` : `The SQL \`${kind.replaceAll("_", " ")}\``;

function dotted(node: unknown): string[] {
  const { kind, body } = kindOf(node);
  if (kind === "dot") return [...dotted(body["this"]), nameOf(body["field"]) ?? ""];
  const table = nameOf(body["table"]);
  return [...(table === undefined ? [] : [table]), nameOf(body["name"]) ?? ""];
}

const negated = (isNegated: unknown, expression: Expression): Term => ({
  expression: isNegated === true ? { kind: "not", operand: expression } : expression,
  type: "boolean",
});

function literal(body: SqlNode): Term {
  const value = String(body["value"]);
  switch (body["literal_type"]) {
    case "number":
      return { expression: { kind: "number", value }, type: /^\d+$/.test(value) ? "integer" : "number" };
    case "string":
    case "date":
    case "timestamp":
      return { expression: { kind: "text", value }, type: "text" };
    default:
      throw untranslatable(`The literal ${value} is of a kind that expressions do not have.`);
  }
}

function arithmetic(operator: Arithmetic, left: Term, right: Term, { dialect }: SqlScope): Term {
  const expression: Expression = { kind: "arithmetic", operator, left: plain(left), right: plain(right) };
  const bothWhole = isWhole(left) && isWhole(right);
  if (operator !== "/") {
    const isBig = left.type === "bigint" || right.type === "bigint";
    return { expression, type: bothWhole ? (isBig ? "bigint" : "integer") : "number" };
  }
  if (bothWhole && (dialect === "sqlite" || dialect === "postgres")) {
    throw untranslatable(
      `Whole numbers are divided: ${dialect} drops the fraction, and metrics keep it.`,
      "If the fraction is wanted, write it so in the project, such as `/ 100.0`.",
    );
  }
  return {
    expression: { kind: "arithmetic", operator, left: withoutFactor(plain(left)), right: withoutFactor(plain(right)) },
    type: "number",
  };
}

/** `1.0 * x` and `100.0` only keep a database from dropping the fraction, which a division here never does. */
function withoutFactor(expression: Expression): Expression {
  const isOne = (operand: Expression): boolean => operand.kind === "number" && /^1\.0+$/.test(operand.value);
  if (expression.kind === "arithmetic" && expression.operator === "*") {
    if (isOne(expression.left)) return expression.right;
    if (isOne(expression.right)) return expression.left;
  }
  if (expression.kind !== "number") return expression;
  return { kind: "number", value: expression.value.replace(/^(\d+)\.0+$/, "$1") };
}

function isIn(operand: Term, values: readonly Term[]): Expression {
  if (values.length === 0) throw untranslatable("IN with a subquery has no counterpart in expressions of metrics.");
  if (operand.period === undefined && operand.type !== "boolean") {
    return { kind: "in", operand: operand.expression, values: values.map(plain) };
  }
  return values
    .map((value) => compareTerms("=", operand, value).expression)
    .reduce((left, right) => ({ kind: "or", left, right }));
}

function like(operand: Term, pattern: Term, ignoresCase: boolean, dialect: Dialect): Expression {
  if (pattern.expression.kind !== "text") throw untranslatable("LIKE needs a constant pattern.");
  const { value } = pattern.expression;
  if (value.includes("\\")) throw untranslatable("LIKE with a backslash means different things on databases.");
  // In metrics, LIKE distinguishes case.
  const hasLetters = value.toLowerCase() !== value.toUpperCase();
  if (hasLetters && dialect === "mysql" && !ignoresCase) {
    throw untranslatable(
      "Whether LIKE ignores case depends on the collation in MySQL.",
      "Write lower(…) like '…' in the project.",
    );
  }
  if (!hasLetters || !(ignoresCase || dialect === "sqlite")) {
    return { kind: "like", operand: plain(operand), pattern: value };
  }
  return {
    kind: "like",
    operand: { kind: "call", name: "lower", operands: [plain(operand)] },
    // SQLite's LIKE and lower() leave letters beyond ASCII alone.
    pattern: dialect === "sqlite" ? value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : value.toLowerCase(),
  };
}

function caseTerm(body: SqlNode, term: (node: unknown) => Term, condition: (node: unknown) => Expression): Term {
  const operand = isPresent(body["operand"]) ? term(body["operand"]) : undefined;
  const branches = listOf(body["whens"]).map((pair) => {
    const [when, result] = listOf(pair);
    return {
      when: operand ? compareTerms("=", operand, term(when)).expression : condition(when),
      result: term(result),
    };
  });
  return choice(branches, isPresent(body["else_"]) ? term(body["else_"]) : undefined);
}

function choice(branches: readonly { when: Expression; result: Term }[], otherwise: Term | undefined): Term {
  const results = [...branches.map(({ result }) => result), ...(otherwise ? [otherwise] : [])];
  return {
    expression: {
      kind: "case",
      branches: branches.map(({ when, result }) => ({ when, result: plain(result) })),
      otherwise: otherwise ? plain(otherwise) : { kind: "null" },
    },
    type: commonType(results),
  };
}

function commonType(terms: readonly Term[]): TermType {
  const types = [...new Set(terms.filter(({ expression }) => expression.kind !== "null").map(({ type }) => type))];
  if (types.length === 1) return types[0]!;
  return types.every((type) => ["integer", "bigint", "number"].includes(type)) && types.length > 1
    ? "number"
    : "unknown";
}

function cast(operand: Term, to: SqlNode, dialect: Dialect): Term {
  const type = String(to["data_type"]);
  const isBare = !isPresent(to["precision"]) && !isPresent(to["length"]);
  const isFloat = type === "double" || type === "float";
  if (isNumber(operand) && isBare && (isFloat || (type === "decimal" && dialect === "postgres"))) {
    return { expression: plain(operand), type: "number" };
  }
  if (type === "date" || type === "timestamp") {
    if (operand.expression.kind === "text") return operand;
    if (type === "date" && (operand.type === "time" || operand.type === "text")) {
      return { ...operand, type: "time", period: "day" };
    }
    if (type === "timestamp" && operand.type === "time" && !isPresent(to["timezone"])) return operand;
  }
  throw untranslatable(`A conversion to ${type} has no counterpart in expressions of metrics.`);
}

function call(name: FunctionName, operands: readonly Term[]): Term {
  const type = ((): TermType => {
    switch (name) {
      case "coalesce":
        return commonType(operands);
      case "nullif":
      case "abs":
        return operands[0]?.type ?? "unknown";
      case "round":
        return "number";
      case "lower":
      case "upper":
      case "trim":
        return "text";
      default:
        return "integer";
    }
  })();
  return { expression: { kind: "call", name, operands: operands.map(plain) }, type };
}

function datePart(field: unknown, operand: Term): Term {
  const custom = kindOf({ field }).body["Custom"];
  const name = String(custom ?? field).toLowerCase();
  if (name === "isodow") return call("weekday", [operand]);
  const part = PARTS.has(name) ? (name as "year") : undefined;
  if (part) return call(part, [operand]);
  throw untranslatable(`The part ${name} of a time has no counterpart in expressions of metrics.`);
}

function functionTerm(body: SqlNode, term: (node: unknown) => Term): Term {
  const name = String(body["name"]).toLowerCase();
  const operands = listOf(body["args"]);
  if (name === "nullif" || name === "round") return call(name, operands.map(term));
  const [first, second] = operands;
  if (name === "date" && operands.length === 1) return cast(term(first), { data_type: "date" }, "postgres");
  const unit = first === undefined ? undefined : constantText(first);
  if (unit !== undefined && operands.length === 2) {
    if (name === "date_part") return datePart(unit, term(second));
    const period = GRANULARITIES.find((known) => known === unit.toLowerCase());
    if (name === "date_trunc" && period) return rounded(term(second), period);
  }
  throw untranslatable(`The function ${name} has no counterpart in expressions of metrics.`);
}

function constantText(node: unknown): string | undefined {
  const { kind, body } = kindOf(node);
  return kind === "literal" && body["literal_type"] === "string" ? String(body["value"]) : undefined;
}

function rounded(operand: Term, period: Granularity): Term {
  if (operand.period !== undefined || (operand.type !== "time" && operand.type !== "text")) {
    throw untranslatable("Only a stored time can be rounded to a period.");
  }
  return { expression: operand.expression, type: "time", period };
}
