import type { Dialect } from "@tandem/connectors";
import { describe, expect, test } from "vitest";
import { COMPARISONS, type Expression, reference } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { attempt, MetricError } from "../metric-error.ts";
import { randomSource } from "../testing/random-case.ts";
import { loadFragmentParser } from "./parse-fragment.ts";
import type { TermType } from "./sql-term.ts";
import { translateSql } from "./translate-sql.ts";

const parse = await loadFragmentParser();
const TYPES: Record<string, TermType> = {
  n: "integer",
  big: "bigint",
  price: "number",
  word: "text",
  flag: "boolean",
  at: "time",
};

const translate = (sql: string, dialect: Dialect): string => {
  const term = translateSql(parse(sql, dialect), {
    dialect,
    resolve: (_, name) => ({ expression: reference(name), type: TYPES[name] ?? "unknown" }),
  });
  return term.period === undefined
    ? writeExpression(term.expression)
    : `${writeExpression(term.expression)} by ${term.period}`;
};
const refusal = (sql: string, dialect: Dialect): string => {
  const translated = attempt(() => translate(sql, dialect));
  return translated instanceof MetricError ? translated.message : `not refused: ${translated}`;
};

test.each<[string, Dialect, string]>([
  ["a - b - c", "postgres", "a - b - c"],
  ["a - (b - c)", "postgres", "a - (b - c)"],
  ["not flag and n > 1 or n < 0", "duckdb", "not flag and n > 1 or n < 0"],
  ["case n when 1 then 'a' else 'b' end", "mysql", "case when n = 1 then 'a' else 'b' end"],
  ["n not between 1 and 3", "postgres", "not (n >= 1 and n <= 3)"],
  ["word not in ('a', 'b')", "sqlite", "word not in ('a', 'b')"],
  ["flag is not true", "postgres", "not coalesce(flag, false)"],
  ["flag = 0", "sqlite", "not flag"],
  ["1 <> flag", "mysql", "not flag"],
  ["flag in (0, 1)", "sqlite", "not flag or flag"],
  ["iif(n > 1, 2, 3)", "sqlite", "case when n > 1 then 2 else 3 end"],
  ["ifnull(price, 0) * 2", "mysql", "coalesce(price, 0) * 2"],
  ["n * 1.0 / 100", "postgres", "n / 100"],
  ["cast(n as double precision) / big", "postgres", "n / big"],
  ["n / 100", "duckdb", "n / 100"],
  ["price / 3", "postgres", "price / 3"],
  // SQLite's LIKE ignores case, and ours does not.
  ["word like 'Ab%'", "sqlite", "lower(word) like 'ab%'"],
  ["word like 'Ab%'", "postgres", "word like 'Ab%'"],
  ["word ilike 'Ab%'", "duckdb", "lower(word) like 'ab%'"],
  ["extract(year from at)", "postgres", "year(at)"],
  ["extract(isodow from at)", "postgres", "weekday(at)"],
  ["date_trunc('month', at)", "duckdb", "at by month"],
  ["at >= date '2026-01-01'", "postgres", "at >= '2026-01-01'"],
  ["cast(at as date) = '2026-01-31'", "postgres", "at >= '2026-01-31' and at < '2026-02-01'"],
  ["date_trunc('month', at) <= '2026-01-15'", "postgres", "at < '2026-02-01'"],
  ["date_trunc('month', at) >= '2026-01-15'", "postgres", "at >= '2026-02-01'"],
  ["'2026-01-01' > date_trunc('quarter', at)", "duckdb", "at < '2026-01-01'"],
  ["date_trunc('week', at) <> '2026-01-05'", "duckdb", "at < '2026-01-05' or at >= '2026-01-12'"],
  [
    "date_trunc('hour', at) = '2026-01-05 10:00'",
    "duckdb",
    "at >= '2026-01-05 10:00:00' and at < '2026-01-05 11:00:00'",
  ],
  ["date_trunc('day', at) is null", "duckdb", "at is null"],
])("%s on %s", (sql, dialect, wanted) => expect(translate(sql, dialect)).toBe(wanted));

describe("SQL that means something else, or nothing, in metrics is refused", () => {
  test.each<[string, Dialect, RegExp]>([
    ["n / 100", "sqlite", /Whole numbers are divided/],
    ["big / n", "postgres", /Whole numbers are divided/],
    ["word like 'Ab%'", "mysql", /collation/],
    ["word like 'a!%' escape '!'", "sqlite", /escape/],
    ["word like 'a\\\\_'", "postgres", /backslash/],
    ["length(word)", "mysql", /length/],
    ["n % 2", "sqlite", /mod/],
    ["word || 'x'", "postgres", /concat/],
    ["cast(price as integer)", "postgres", /conversion to int/],
    ["price::numeric(10, 2)", "postgres", /conversion to decimal/],
    ["cast(price as decimal)", "mysql", /conversion to decimal/],
    ["extract(dow from at)", "postgres", /dayofweek/],
    ["at > now()", "postgres", /now/],
    ["at > at + interval '1 day'", "postgres", /interval/],
    ["sum(n)", "sqlite", /aggregate/],
    ["row_number() over (order by n)", "duckdb", /no counterpart/],
    ["n is distinct from 1", "postgres", /null safe/],
    ["n, 1", "sqlite", /more than one expression/],
    ["n from other", "sqlite", /more than one expression/],
    ["n as m", "sqlite", /alias/],
    ["n = (select 1)", "sqlite", /subquery/],
    ["n in (select 1)", "sqlite", /query/],
    ["flag = 2", "sqlite", /other than 0 and 1/],
    ["date_trunc('month', at) = '2026-01-15'", "duckdb", /never holds/],
    ["date_trunc('month', at) = at", "duckdb", /other than a day/],
    ["coalesce(date_trunc('month', at), at)", "duckdb", /rounded/],
    ["n and flag", "sqlite", /true or false/],
  ])("%s on %s", (sql, dialect, message) => expect(refusal(sql, dialect)).toMatch(message));
});

/** With chains of AND and OR as lists: parentheses within them mean nothing. */
function chained(expression: Expression): unknown {
  if (expression.kind === "and" || expression.kind === "or")
    return [expression.kind, ...links(expression, expression.kind)];
  return Object.entries(expression).map(([key, value]) => [key, inner(value)]);
}
const links = (expression: Expression, kind: "and" | "or"): unknown[] =>
  expression.kind === kind
    ? [...links(expression.left, kind), ...links(expression.right, kind)]
    : [chained(expression)];
function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner);
  if (typeof value !== "object" || value === null) return value;
  if ("kind" in value) return chained(value as Expression);
  return Object.entries(value).map(([key, part]) => [key, inner(part)]);
}

test("generated expressions come back from every dialect's parser as they were", () => {
  const random = randomSource(7);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const number = (depth: number): Expression =>
    depth === 0
      ? pick<Expression>([reference("price"), { kind: "number", value: pick(["1.5", "20.25", "0.1"]) }])
      : pick<() => Expression>([
          () => ({
            kind: "arithmetic",
            operator: pick(["+", "-", "*", "/"]),
            left: number(depth - 1),
            right: number(depth - 1),
          }),
          () => ({ kind: "negate", operand: number(depth - 1) }),
          () => ({ kind: "call", name: pick(["coalesce", "nullif"]), operands: [number(depth - 1), number(0)] }),
          () => ({
            kind: "case",
            branches: [{ when: condition(depth - 1), result: number(depth - 1) }],
            otherwise: pick([number(0), { kind: "null" as const }]),
          }),
        ])();
  const condition = (depth: number): Expression =>
    depth === 0
      ? pick<Expression>([reference("flag"), { kind: "is_null", operand: reference("word") }])
      : pick<() => Expression>([
          () => ({ kind: pick(["and", "or"]), left: condition(depth - 1), right: condition(depth - 1) }),
          () => ({ kind: "not", operand: condition(depth - 1) }),
          () => ({ kind: "compare", operator: pick(COMPARISONS), left: number(depth - 1), right: number(0) }),
          () => ({
            kind: "in",
            operand: reference("word"),
            values: [{ kind: "text", value: pick(["a", "it's", ""]) }],
          }),
        ])();
  for (let round = 0; round < 150; round += 1) {
    const expression = random() < 0.5 ? number(4) : condition(4);
    const text = writeExpression(expression);
    // The parser joins two negations; written and read once, the text is stable.
    const read = parseExpression(text);
    expect(writeExpression(read)).toBe(writeExpression(parseExpression(writeExpression(read))));
    for (const dialect of ["sqlite", "postgres", "duckdb", "mysql"] as const) {
      const translated = parseExpression(translate(text, dialect));
      expect(chained(translated), `${dialect}: ${text}`).toEqual(chained(read));
    }
  }
});
