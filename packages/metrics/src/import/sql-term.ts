import type { Dialect } from "@tandem/connectors";
import { type Comparison, type Expression, mapReferences } from "../expression/expression.ts";
import { MetricError } from "../metric-error.ts";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import type { Granularity } from "../sql/granularity.ts";
import { shifted, startOf } from "../query/time-range.ts";

/** `bigint` is kept apart from `integer`, because Postgres adds it up to a decimal. */
export type TermType = "integer" | "bigint" | "number" | "text" | "boolean" | "time" | "unknown";

/** A translated part of SQL. */
export interface Term {
  readonly expression: Expression;
  readonly type: TermType;
  /** The SQL rounds the time down to this period, and `expression` does not. */
  readonly period?: Granularity;
}

export const untranslatable = (message: string, fix?: string): MetricError =>
  new MetricError("unsupported", message, fix);

export const isWhole = ({ type }: Term): boolean => type === "integer" || type === "bigint";
export const isNumber = (term: Term): boolean => isWhole(term) || term.type === "number";

/** The type of a stored column, as far as translation needs it. */
export function columnType({ kind, type }: CataloguedTable["columns"][number], dialect: Dialect): TermType {
  switch (kind) {
    case "integer":
      return /big|int8/i.test(type) ? "bigint" : "integer";
    case "decimal":
      // SQLite stores 5.00 of a DECIMAL column as the integer 5, and divides it as one.
      return dialect === "sqlite" && !/real|floa|doub/i.test(type) ? "integer" : "number";
    case "text":
    case "uuid":
      return "text";
    case "boolean":
      return "boolean";
    case "date":
    case "time":
      return "time";
    default:
      return "unknown";
  }
}

/** Puts a path in front of all columns of an expression. */
export const withPath = (expression: Expression, path: readonly string[]): Expression =>
  mapReferences(expression, (reference) => ({
    kind: "reference",
    reference: { path: [...path, ...reference.path], name: reference.name },
  }));

/** A condition. SQLite and MySQL write booleans as 0 and 1. */
export function asCondition(term: Term): Expression {
  plain(term);
  if (term.type === "boolean") return term.expression;
  throw untranslatable("A condition must be true or false here; this one is not.", "Compare it, such as with = 1.");
}

/** The expression of a term that no date function has rounded. */
export function plain({ expression, period }: Term): Expression {
  if (period === undefined) return expression;
  throw untranslatable(`A time is rounded to ${period}s within an expression, which expressions cannot do.`);
}

const MIRRORED: Record<Comparison, Comparison> = { "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

export function compareTerms(operator: Comparison, left: Term, right: Term): Term {
  const expression = ((): Expression => {
    if (left.period !== undefined && right.period !== undefined) {
      throw untranslatable("Two rounded times are compared with each other.");
    }
    if (right.period !== undefined) return comparePeriod(MIRRORED[operator], right, left);
    if (left.period !== undefined) return comparePeriod(operator, left, right);
    return (
      flagComparison(operator, left, right) ??
      flagComparison(MIRRORED[operator], right, left) ?? {
        kind: "compare",
        operator,
        left: left.expression,
        right: right.expression,
      }
    );
  })();
  return { expression, type: "boolean" };
}

/** `is_test = 0` of a column that holds true and false. */
function flagComparison(operator: Comparison, flag: Term, value: Term): Expression | undefined {
  if (flag.type !== "boolean" || value.expression.kind !== "number") return undefined;
  const number = Number(value.expression.value);
  if ((number !== 0 && number !== 1) || (operator !== "=" && operator !== "<>")) {
    throw untranslatable("A true or false column is compared with a number other than 0 and 1.");
  }
  return (number === 1) === (operator === "=") ? flag.expression : { kind: "not", operand: flag.expression };
}

/**
 * Compares a time that is rounded down to a period with a constant, by the bounds of the period: `date(t) = '2026-01-31'` is
 * `t >= '2026-01-31' and t < '2026-02-01'`.
 */
function comparePeriod(operator: Comparison, time: Term, constant: Term): Expression {
  const period = time.period!;
  const given = constant.expression.kind === "text" ? constant.expression.value.replace("T", " ") : "";
  if (!/^\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?$/.test(given) || Number.isNaN(Date.parse(given))) {
    throw untranslatable(`A time rounded to ${period}s is compared with something other than a day or a time.`);
  }
  const local = `${given}${" 00:00:00".slice(given.length - 10)}`;
  const text = (moment: string): string => {
    if (moment.endsWith(" 00:00:00")) return moment.slice(0, 10);
    if (time.type === "time") return moment;
    throw untranslatable("Times within a day are compared in a column of text.");
  };
  const day = text(local);
  const start = text(startOf(local, period));
  const next = text(shifted(startOf(local, period), { count: 1, unit: period }));
  const isStart = start === day;
  const bound = (by: Comparison, value: string): Expression => ({
    kind: "compare",
    operator: by,
    left: time.expression,
    right: { kind: "text", value },
  });
  switch (operator) {
    case ">=":
      return bound(">=", isStart ? start : next);
    case "<":
      return bound("<", isStart ? start : next);
    case ">":
      return bound(">=", next);
    case "<=":
      return bound("<", next);
    case "=":
    case "<>":
      if (!isStart) throw untranslatable(`No ${period} begins on ${day}, so the comparison never holds.`);
      return operator === "="
        ? { kind: "and", left: bound(">=", start), right: bound("<", next) }
        : { kind: "or", left: bound("<", start), right: bound(">=", next) };
  }
}
