import type { Dialect } from "@tandem/connectors";
import type { Expression } from "../expression/expression.ts";
import { lowerExpression } from "../sql/lower-expression.ts";
import { MetricError } from "../metric-error.ts";
import { contains, type Granularity } from "../sql/granularity.ts";
import type { Dimension } from "../model/model.ts";
import { exact, type Sql, typeOf } from "../sql/sql.ts";
import { zoneOffsets } from "../sql/zone-offsets.ts";
import type { FactScope } from "./fact-scope.ts";

/** An expression of an entity that is reached along `path`. */
export function entitySql(scope: FactScope, path: readonly string[], expression: Expression): Sql {
  const { entity } = scope.reach(path);
  return lowerExpression(expression, ({ path: inner, name }) =>
    scope.column({ path: [...path, ...(inner[0] === entity.name ? inner.slice(1) : inner)], name }),
  );
}

/** The day or instant of a time dimension. */
export function timeSql(scope: FactScope, path: readonly string[], dimension: Dimension, dialect: Dialect): Sql {
  const sql = entitySql(scope, path, dimension.expression);
  const type = typeOf(sql);
  if (type === "day" || type === "instant") return sql;
  // SQLite has no type for times.
  if (dialect === "sqlite" && type === "text" && sql.op === "column") return { ...sql, type: "instant" };
  throw new MetricError(
    "broken_definition",
    `The dimension ${dimension.name} is a time, and its expression is a ${type}.`,
    type === "number" ? "Use from_epoch(…) for seconds since 1970." : undefined,
  );
}

/** The value by which rows are grouped. */
export function groupSql(
  scope: FactScope,
  path: readonly string[],
  dimension: Dimension,
  unit: Granularity | undefined,
  dialect: Dialect,
): Sql {
  if (!dimension.time) return exact(entitySql(scope, path, dimension.expression));
  return bucketSql(timeSql(scope, path, dimension, dialect), dimension, unit ?? dimension.time);
}

export function bucketSql(time: Sql, dimension: Dimension, unit: Granularity): Sql {
  if (!dimension.time || !contains(unit, dimension.time)) {
    throw new MetricError(
      "unsafe",
      `${dimension.name} is known by ${dimension.time}, and cannot be grouped by ${unit}.`,
      `Group by ${dimension.time} or a longer period.`,
    );
  }
  if (typeOf(time) === "day" && (unit === "minute" || unit === "hour")) {
    throw new MetricError("unsafe", `${dimension.name} is a day, and cannot be grouped by ${unit}.`);
  }
  const zone = dimension.zone === undefined || typeOf(time) === "day" ? undefined : zoneOffsets(dimension.zone);
  return { op: "bucket", unit, operand: time, ...(zone && { zone }) };
}
