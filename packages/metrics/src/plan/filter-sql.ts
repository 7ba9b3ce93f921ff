import { timeLiteral } from "../sql/lower-expression.ts";
import { MetricError } from "../metric-error.ts";
import { followPath } from "../model/entity-paths.ts";
import type { Dimension, Model, Role } from "../model/model.ts";
import type { MetricFilter } from "@tandem/protocol";
import { bucketOf, isRangeFilter, type TimeRange, timeRange } from "../query/time-range.ts";
import { compare, exact, isNotNull, type Join, type Sql, typeOf } from "../sql/sql.ts";
import { utcOfLocal, type ZoneOffsets, zoneOffsets } from "../sql/zone-offsets.ts";
import { bucketSql, entitySql, timeSql } from "./dimension-sql.ts";
import { FactScope, joinCondition } from "./fact-scope.ts";
import { dimensionOf } from "./field.ts";

/** A condition on an entity that is reached along a path. */
export interface Condition {
  readonly path: readonly string[];
  /** The condition, in the scope of the entity at the end of the path or before it. */
  readonly sql: (scope: FactScope, path: readonly string[]) => Sql[];
}

/**
 * Conditions of a query on the rows of a fact. Where a row meets several rows of another entity, it counts once if one of
 * them fulfils all conditions on that entity and on those that are reached through it.
 */
export function conditionsSql(
  scope: FactScope,
  conditions: readonly Condition[],
  { entities }: Pick<Model, "entities">,
  prefix = "x",
): Sql[] {
  const found: Sql[] = [];
  const behind = new Map<string, { steps: readonly Role[]; conditions: Condition[] }>();
  for (const condition of conditions) {
    const name = scope.entity.name;
    if (followPath(entities, name, condition.path, "one")) {
      found.push(...condition.sql(scope, condition.path));
      continue;
    }
    const many = followPath(entities, name, condition.path, "many");
    // Throws, and names the reason.
    if (!many) scope.reach(condition.path);
    const all = many!.steps;
    const steps = all.slice(0, all.findIndex(({ isSafe }) => !isSafe) + 1);
    const key = JSON.stringify(steps);
    const group = behind.get(key) ?? { steps, conditions: [] };
    const rest = restOf(entities, name, condition.path, steps);
    behind.set(key, { steps, conditions: [...group.conditions, { ...condition, path: rest }] });
  }
  const exists = [...behind.values()].map((group, at) =>
    existsSql(scope, group.steps, group.conditions, entities, `${prefix}${at + 1}_`),
  );
  return [...found, ...exists];
}

/** The names of a path that are left behind its first steps. */
function restOf(
  entities: Model["entities"],
  from: string,
  path: readonly string[],
  first: readonly Role[],
): readonly string[] {
  const all = followPath(entities, from, path, "many")!.steps;
  const wanted = JSON.stringify(all.slice(first.length));
  for (let count = 0; count <= path.length; count += 1) {
    const rest = path.slice(path.length - count);
    const steps = count === 0 ? [] : followPath(entities, first.at(-1)!.to, rest, "many")?.steps;
    if (JSON.stringify(steps) === wanted) return rest;
  }
  throw new MetricError(
    "ambiguous",
    `The way from ${from} to ${path.join(".")} has no name behind ${first.at(-1)!.to}.`,
    "Write the way out, role by role.",
  );
}

function existsSql(
  outer: FactScope,
  steps: readonly Role[],
  conditions: readonly Condition[],
  entities: Model["entities"],
  prefix: string,
): Sql {
  const target = entities.get(steps.at(-1)!.to)!;
  const inner = new FactScope(entities, target, prefix);
  const where = conditionsSql(inner, conditions, { entities }, `${prefix}x`);
  // From the filtered entity back to the fact: only inner joins, because all rows on the way must exist.
  const back: Join[] = [];
  let alias = inner.alias;
  for (let at = steps.length - 1; at > 0; at -= 1) {
    const step = steps[at]!;
    const before = `${prefix}s${at}`;
    back.push({
      kind: "inner",
      source: { kind: "table", table: entities.get(step.from)!.table, alias: before },
      on: joinCondition(entities, step, before, alias),
    });
    alias = before;
  }
  return {
    op: "exists",
    select: {
      outputs: [{ name: "found", sql: { op: "number", value: "1" } }],
      from: inner.from,
      joins: [...back, ...inner.joins],
      where: [joinCondition(entities, steps[0]!, outer.alias, alias), ...where],
    },
  };
}

/** A filter of a query on a dimension. `path` leads from the scope's entity to that of the dimension. */
export function dimensionCondition(
  filter: MetricFilter,
  path: readonly string[],
  read: { name: string; unit?: Parameters<typeof bucketSql>[2] },
  { dialect }: Model,
  now: Date,
): Condition {
  return {
    path,
    sql: (scope, at) => {
      const dimension = dimensionOf(scope.reach(at).entity, read.name);
      if (isRangeFilter(filter))
        return rangeSql(timeSql(scope, at, dimension, dialect), dimension, rangeOf(filter, dimension, now));
      const value = dimension.time
        ? bucketSql(timeSql(scope, at, dimension, dialect), dimension, read.unit ?? dimension.time)
        : entitySql(scope, at, dimension.expression);
      return [comparison(value, filter)];
    },
  };
}

const zoneOf = ({ zone }: Dimension): ZoneOffsets | undefined => (zone === undefined ? undefined : zoneOffsets(zone));

export function rangeOf(filter: MetricFilter, dimension: Dimension, now: Date): TimeRange {
  if (!isRangeFilter(filter)) return {};
  if (dimension.time) return timeRange(filter, now, zoneOf(dimension));
  throw new MetricError("unknown_name", `${filter.field} is no time, and has no range.`, "Use op and value.");
}

/** Half-open. Bounds are converted, not the column, so that the database can use an index. */
export function rangeSql(time: Sql, dimension: Dimension, { from, until }: TimeRange): Sql[] {
  const bound = (local: string): Sql => {
    if (typeOf(time) === "instant") {
      const zone = zoneOf(dimension);
      return { op: "instant", value: zone ? utcOfLocal(local, zone) : local };
    }
    if (!local.endsWith(" 00:00:00"))
      throw new MetricError("unsafe", `${dimension.name} is a day: ${local} is no bound of it.`);
    return { op: "day", value: local.slice(0, 10) };
  };
  return [
    ...(from === undefined ? [] : [compare(">=", time, bound(from))]),
    ...(until === undefined ? [] : [compare("<", time, bound(until))]),
  ];
}

type ValueFilter = Extract<MetricFilter, { op: unknown }>;

export function comparison(left: Sql, filter: ValueFilter): Sql {
  const literal = (value: string | number | boolean): Sql => literalOf(value, left, filter.field);
  switch (filter.op) {
    case "is_null":
      return { op: "is_null", operand: left };
    case "not_null":
      return isNotNull(left);
    case "in":
    case "not_in": {
      const found: Sql = { op: "in", operand: exact(left), values: filter.values.map(literal) };
      return filter.op === "in" ? found : { op: "not", operand: found };
    }
    case "contains":
    case "starts_with": {
      if (typeOf(left) !== "text") throw new MetricError("unknown_name", `${filter.field} is no text.`);
      const text = { text: filter.value };
      return { op: "like", operand: left, pattern: filter.op === "contains" ? ["any", text, "any"] : [text, "any"] };
    }
    default: {
      const operator = filter.op === "!=" ? "<>" : filter.op;
      return compare(operator, exact(left), literal(filter.value));
    }
  }
}

function literalOf(value: string | number | boolean, left: Sql, field: string): Sql {
  const type = typeOf(left);
  const wrong = new MetricError(
    "unknown_name",
    `${JSON.stringify(value)} is no value of ${field}, which is a ${type}.`,
  );
  switch (type) {
    case "number":
      if (typeof value === "boolean" || value === "" || !Number.isFinite(Number(value))) throw wrong;
      return { op: "number", value: typeof value === "number" ? String(value) : canonicalNumber(value, wrong) };
    case "boolean":
      if (value !== true && value !== false && value !== "true" && value !== "false") throw wrong;
      return { op: "boolean", value: String(value) === "true" };
    case "day":
    case "instant":
      return timeLiteral(String(value), type);
    case "text":
      return { op: "text", value: left.op === "bucket" ? bucketOf(String(value), left.unit, field) : String(value) };
  }
}

function canonicalNumber(text: string, wrong: MetricError): string {
  if (/^-?\d+(\.\d+)?$/.test(text.trim())) return text.trim();
  throw wrong;
}
