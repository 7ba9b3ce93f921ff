import { type Expression, mapOperands } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { attempt, MetricError } from "../metric-error.ts";
import type { MetricsFile } from "../model/metrics-file.ts";

export interface NotHeld {
  /** `metric revenue: owner` */
  readonly item: string;
  readonly reason: string;
}

/** A document in another format, and all that the format cannot hold. */
export interface ExportResult {
  readonly document: object;
  readonly notHeld: readonly NotHeld[];
}

/** Lists parts that a format cannot hold. */
export class ExportReport {
  readonly notHeld: NotHeld[] = [];

  drop(item: string, reason: string): void {
    this.notHeld.push({ item, reason });
  }

  /** A refused part is listed, and the result is undefined. */
  attempt<T>(item: string, build: () => T): T | undefined {
    const built = attempt(build);
    if (!(built instanceof MetricError)) return built;
    this.drop(item, built.message);
    return undefined;
  }
}

export const cannotHold = (message: string): MetricError => new MetricError("unsupported", message);

/** Conditions as expressions; names of segments are replaced by their conditions. */
export const conditionsOf = ({ segments = {} }: MetricsFile, where: readonly string[] | undefined): Expression[] =>
  (where ?? []).map((text) => parseExpression(segments[text.trim()] ?? text));

export const allOf = (conditions: readonly Expression[]): Expression | undefined =>
  conditions.length === 0 ? undefined : conditions.reduce((left, right) => ({ kind: "and", left, right }));

/** `case when condition then operand end`: only the rows of the condition count. */
export const onlyWhere = (operand: Expression, conditions: readonly Expression[]): Expression => {
  const when = allOf(conditions);
  return when ? { kind: "case", branches: [{ when, result: operand }], otherwise: { kind: "null" } } : operand;
};

/**
 * The SQL of an expression. Constants in divisions get a fraction, so that databases that divide whole numbers keep it, as
 * metrics do. Throws for functions that SQL does not have.
 */
export function expressionSql(expression: Expression): string {
  return writeExpression(inSql(expression), (word) => RESERVED.has(word));
}

/** Words that SQL does not take for a name without quotes. */
const RESERVED = new Set(
  `all any as asc by check collate column constraint create cross current_date current_time current_timestamp default desc
  distinct do exists except false fetch for foreign from full grant group having inner intersect interval into join key left
  limit natural new now old offset on only order outer over partition primary range references right row rows select session
  set some table then to union unique update user using values view when where window with`.split(/\s+/),
);

function inSql(expression: Expression): Expression {
  if (expression.kind === "call" && (expression.name === "from_epoch" || expression.name === "weekday")) {
    throw cannotHold(`The function ${expression.name} is not part of SQL.`);
  }
  const written = mapOperands(expression, inSql);
  if (written.kind !== "arithmetic" || written.operator !== "/") return written;
  return { ...written, right: decimal(written.right) };
}

function decimal(divisor: Expression): Expression {
  if (divisor.kind === "number" && /^\d+$/.test(divisor.value)) return { kind: "number", value: `${divisor.value}.0` };
  if (divisor.kind === "number") return divisor;
  return { kind: "arithmetic", operator: "*", left: { kind: "number", value: "1.0" }, right: divisor };
}
