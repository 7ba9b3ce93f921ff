import { MetricError } from "../metric-error.ts";
import { compare, exact, likePattern, type Sql, type SqlType, typeOf } from "./sql.ts";
import type { ColumnReference, Expression, FunctionName } from "../expression/expression.ts";

export type Resolve = (reference: ColumnReference) => Sql;

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?$/;

/** Checks the types of an expression and turns it into SQL. Throws `invalid_expression`. */
export function lowerExpression(expression: Expression, resolve: Resolve): Sql {
  const lower = (inner: Expression): Sql => lowerExpression(inner, resolve);
  switch (expression.kind) {
    case "reference":
      return resolve(expression.reference);
    case "number":
    case "text":
      return { op: expression.kind, value: expression.value };
    case "boolean":
      return { op: "boolean", value: expression.value };
    case "null":
      return { op: "null", type: "number" };
    case "negate":
      return { op: "negate", operand: wanted(lower(expression.operand), "number", "a sign") };
    case "not":
      return { op: "not", operand: wanted(lower(expression.operand), "boolean", "not") };
    case "arithmetic": {
      const [left, right] = [lower(expression.left), lower(expression.right)];
      for (const side of [left, right]) wanted(side, "number", expression.operator);
      return { op: "arithmetic", operator: expression.operator, left, right };
    }
    case "compare": {
      const [left, right] = alike([lower(expression.left), lower(expression.right)], expression.operator);
      return compare(expression.operator, exact(left!), exact(right!));
    }
    case "and":
    case "or": {
      const operands = [lower(expression.left), lower(expression.right)];
      for (const operand of operands) wanted(operand, "boolean", expression.kind);
      return { op: expression.kind, operands };
    }
    case "in": {
      const [operand, ...values] = alike([lower(expression.operand), ...expression.values.map(lower)], "in");
      return { op: "in", operand: exact(operand!), values: values.map(exact) };
    }
    case "like":
      return {
        op: "like",
        operand: wanted(lower(expression.operand), "text", "like"),
        pattern: likePattern(expression.pattern),
      };
    case "is_null":
      return { op: "is_null", operand: lower(expression.operand) };
    case "case": {
      const whens = expression.branches.map(({ when }) => wanted(lower(when), "boolean", "when"));
      const results = alike(
        [...expression.branches.map(({ result }) => lower(result)), lower(expression.otherwise)],
        "case",
      );
      return {
        op: "case",
        branches: whens.map((when, at) => ({ when, result: results[at]! })),
        otherwise: results.at(-1)!,
      };
    }
    case "call":
      return lowerCall(expression.name, expression.operands.map(lower));
  }
}

/** Operands of one type. Text that is compared with a day or an instant must be one. */
function alike(operands: readonly Sql[], operator: string): Sql[] {
  const types = new Set(operands.filter(({ op }) => op !== "null").map(typeOf));
  const time = types.has("instant") ? "instant" : types.has("day") ? "day" : undefined;
  const converted = operands.map((operand): Sql => {
    if (operand.op === "null") return { op: "null", type: [...types][0] ?? "number" };
    return time && operand.op === "text" ? timeLiteral(operand.value, time) : operand;
  });
  const found = [...new Set(converted.filter(({ op }) => op !== "null").map(typeOf))];
  if (found.length > 1) {
    throw new MetricError("invalid_expression", `${operator} cannot combine a ${found.join(" and a ")}.`);
  }
  return converted;
}

/** A day or an instant of its text. Throws if it is none. */
export function timeLiteral(value: string, type: "day" | "instant"): Sql {
  const isDay = DAY.test(value);
  if ((!isDay && !INSTANT.test(value)) || Number.isNaN(Date.parse(value))) {
    throw new MetricError(
      "invalid_expression",
      `${JSON.stringify(value)} is not a day or a time.`,
      "Write 2026-03-31.",
    );
  }
  if (type === "day") {
    if (isDay) return { op: "day", value };
    throw new MetricError("invalid_expression", `${JSON.stringify(value)} has a time, and is compared with a day.`);
  }
  const text = isDay ? `${value} 00:00:00` : value.replace("T", " ");
  return { op: "instant", value: text.length === 16 ? `${text}:00` : text };
}

function wanted(sql: Sql, type: SqlType, operator: string): Sql {
  if (sql.op === "null") return { op: "null", type };
  const found = typeOf(sql);
  if (found === type) return sql;
  throw new MetricError(
    "invalid_expression",
    `${operator} needs a ${type}, and gets a ${found}${sql.op === "column" ? ` (${sql.name})` : ""}.`,
    type === "boolean" ? "Compare it, such as with = 1." : undefined,
  );
}

const SIGNATURES: Partial<Record<FunctionName, { operands: readonly SqlType[]; optional?: number; result: SqlType }>> =
  {
    abs: { operands: ["number"], result: "number" },
    round: { operands: ["number", "number"], optional: 1, result: "number" },
    lower: { operands: ["text"], result: "text" },
    upper: { operands: ["text"], result: "text" },
    trim: { operands: ["text"], result: "text" },
    length: { operands: ["text"], result: "number" },
    from_epoch: { operands: ["number"], result: "instant" },
  };

function lowerCall(name: FunctionName, operands: readonly Sql[]): Sql {
  const wrongCount = (count: string) =>
    new MetricError("invalid_expression", `${name} takes ${count}, and gets ${operands.length}.`);
  if (name === "coalesce" || name === "nullif") {
    if (name === "nullif" && operands.length !== 2) throw wrongCount("two values");
    const same = alike(operands, name);
    const type = typeOf(same.find(({ op }) => op !== "null") ?? same[0]!);
    return { op: "call", name, operands: name === "nullif" ? [exact(same[0]!), exact(same[1]!)] : same, type };
  }
  const signature = SIGNATURES[name];
  if (!signature) {
    if (operands.length !== 1) throw wrongCount("one time");
    const [time] = operands as [Sql];
    if (!["day", "instant"].includes(typeOf(time))) {
      throw new MetricError("invalid_expression", `${name} needs a day or a time, and gets a ${typeOf(time)}.`);
    }
    return { op: "call", name, operands, type: "number" };
  }
  const { operands: types, optional = 0, result } = signature;
  if (operands.length > types.length || operands.length < types.length - optional)
    throw wrongCount(String(types.length));
  return { op: "call", name, operands: operands.map((sql, at) => wanted(sql, types[at]!, name)), type: result };
}
