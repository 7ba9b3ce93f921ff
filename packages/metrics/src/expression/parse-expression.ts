import { MetricError } from "../metric-error.ts";
import {
  type Arithmetic,
  type CaseBranch,
  type Comparison,
  COMPARISONS,
  type Expression,
  type FunctionName,
  FUNCTIONS,
} from "./expression.ts";
import { type Token, tokenize } from "./tokenize.ts";

const KEYWORDS = new Set("and or not in between like is null true false case when then else end".split(" "));
/** Nesting beyond this is refused: a definition never needs it, and databases limit the depth of expressions. */
const MAX_DEPTH = 60;

/** Parses the text of a definition. Throws `invalid_expression` with the position. */
export function parseExpression(text: string): Expression {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  readonly #tokens: Token[];
  #next = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  whole(): Expression {
    const expression = this.#or();
    if (this.#peek().kind !== "end") throw this.#unexpected("an operator or the end");
    return expression;
  }

  #or(): Expression {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new MetricError("invalid_expression", "The expression is nested too deeply.");
    let left = this.#and();
    while (this.#takeWord("or")) left = { kind: "or", left, right: this.#and() };
    this.#depth -= 1;
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#takeWord("and")) left = { kind: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    let count = 0;
    while (this.#takeWord("not")) count += 1;
    const operand = this.#predicate();
    // Two negations of the same operand cancel out, also for NULL.
    return count % 2 === 1 ? { kind: "not", operand } : operand;
  }

  #predicate(): Expression {
    const left = this.#sum();
    const operator = COMPARISONS.find((symbol) => this.#isSymbol(symbol));
    if (operator) {
      this.#next += 1;
      return { kind: "compare", operator, left, right: this.#sum() };
    }
    if (this.#takeWord("is")) {
      const isNegated = this.#takeWord("not");
      this.#expectWord("null");
      return negatedIf(isNegated, { kind: "is_null", operand: left });
    }
    const isNegated = this.#takeWord("not");
    if (this.#takeWord("in")) return negatedIf(isNegated, { kind: "in", operand: left, values: this.#list() });
    if (this.#takeWord("between")) {
      const low = this.#sum();
      this.#expectWord("and");
      const bound = (operator: Comparison, right: Expression): Expression => ({
        kind: "compare",
        operator,
        left,
        right,
      });
      return negatedIf(isNegated, { kind: "and", left: bound(">=", low), right: bound("<=", this.#sum()) });
    }
    if (this.#takeWord("like")) {
      const pattern = this.#peek();
      if (pattern.kind !== "text") throw this.#unexpected("a quoted pattern");
      this.#next += 1;
      return negatedIf(isNegated, { kind: "like", operand: left, pattern: pattern.value });
    }
    if (isNegated) throw this.#unexpected("in, between or like");
    return left;
  }

  #sum(): Expression {
    return this.#leftToRight(["+", "-"], () => this.#leftToRight(["*", "/"], () => this.#signed()));
  }

  #leftToRight(operators: readonly Arithmetic[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((symbol) => this.#isSymbol(symbol));
      if (!operator) return left;
      this.#next += 1;
      left = { kind: "arithmetic", operator, left, right: operand() };
    }
  }

  #signed(): Expression {
    let isNegative = false;
    for (; this.#isSymbol("-") || this.#isSymbol("+"); this.#next += 1) {
      if (this.#isSymbol("-")) isNegative = !isNegative;
    }
    const operand = this.#primary();
    return isNegative ? { kind: "negate", operand } : operand;
  }

  #primary(): Expression {
    const token = this.#peek();
    if (token.kind === "number" || token.kind === "text") {
      this.#next += 1;
      return { kind: token.kind, value: token.value };
    }
    if (this.#takeSymbol("(")) {
      const inner = this.#or();
      this.#expectSymbol(")");
      return inner;
    }
    if (token.kind !== "word") throw this.#unexpected("a column, a value or an opening parenthesis");
    if (!token.isQuoted) {
      if (this.#takeWord("case")) return this.#case();
      if (this.#takeWord("null")) return { kind: "null" };
      if (this.#takeWord("true")) return { kind: "boolean", value: true };
      if (this.#takeWord("false")) return { kind: "boolean", value: false };
      if (KEYWORDS.has(token.value.toLowerCase())) throw this.#unexpected("a column or a value");
    }
    return this.#nameOrCall();
  }

  #nameOrCall(): Expression {
    const first = this.#peek();
    this.#next += 1;
    if (this.#isSymbol("(")) {
      const name = FUNCTIONS.find((known) => known === first.value.toLowerCase());
      if (!name) throw this.#unknownFunction(first.value);
      return { kind: "call", name, operands: this.#list() };
    }
    const names = [first.value];
    while (this.#takeSymbol(".")) {
      const part = this.#peek();
      if (part.kind !== "word") throw this.#unexpected("a name after the dot");
      this.#next += 1;
      names.push(part.value);
    }
    return { kind: "reference", reference: { path: names.slice(0, -1), name: names.at(-1)! } };
  }

  #case(): Expression {
    const branches: CaseBranch[] = [];
    while (this.#takeWord("when")) {
      const when = this.#or();
      this.#expectWord("then");
      branches.push({ when, result: this.#or() });
    }
    if (branches.length === 0) throw this.#unexpected("when");
    const otherwise: Expression = this.#takeWord("else") ? this.#or() : { kind: "null" };
    this.#expectWord("end");
    return { kind: "case", branches, otherwise };
  }

  #list(): Expression[] {
    this.#expectSymbol("(");
    const items = [this.#or()];
    while (this.#takeSymbol(",")) items.push(this.#or());
    this.#expectSymbol(")");
    return items;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #isSymbol(value: string): boolean {
    const token = this.#peek();
    return token.kind === "symbol" && token.value === value;
  }

  #takeSymbol(value: string): boolean {
    const isNext = this.#isSymbol(value);
    if (isNext) this.#next += 1;
    return isNext;
  }

  #takeWord(keyword: string): boolean {
    const token = this.#peek();
    const isNext = token.kind === "word" && !token.isQuoted && token.value.toLowerCase() === keyword;
    if (isNext) this.#next += 1;
    return isNext;
  }

  #expectSymbol(value: string): void {
    if (!this.#takeSymbol(value)) throw this.#unexpected(`"${value}"`);
  }

  #expectWord(keyword: string): void {
    if (!this.#takeWord(keyword)) throw this.#unexpected(keyword);
  }

  #unexpected(wanted: string): MetricError {
    const { kind, value, at } = this.#peek();
    const found = kind === "end" ? "the end" : JSON.stringify(value);
    return new MetricError(
      "invalid_expression",
      `Expected ${wanted} at position ${at + 1} of \`${this.#text}\`, found ${found}.`,
    );
  }

  #unknownFunction(name: string): MetricError {
    const known: readonly FunctionName[] = FUNCTIONS;
    return new MetricError(
      "invalid_expression",
      `The function ${name} in \`${this.#text}\` is not available.`,
      `Use one of ${known.join(", ")}. Aggregates belong into a measure.`,
    );
  }
}

const negatedIf = (isNegated: boolean, operand: Expression): Expression =>
  isNegated ? { kind: "not", operand } : operand;
