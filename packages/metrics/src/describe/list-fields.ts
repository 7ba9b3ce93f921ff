import { metricQuery } from "@tandem/protocol";
import { compileQuery } from "../compile-query.ts";
import { attempt, MetricError } from "../metric-error.ts";
import { followPath } from "../model/entity-paths.ts";
import { contains, GRANULARITIES, type Granularity } from "../sql/granularity.ts";
import type { Dimension, Entity, Model, Role } from "../model/model.ts";
import { entitySql, timeSql } from "../plan/dimension-sql.ts";
import { FactScope } from "../plan/fact-scope.ts";
import { type SqlType, typeOf } from "../sql/sql.ts";
import { leavesOf } from "./metric-parts.ts";

/** A dimension by which metrics can be grouped and filtered. */
export interface QueryField {
  /** As a query names it. */
  readonly field: string;
  readonly entity: Entity;
  readonly dimension: Dimension;
  readonly type: SqlType;
  /** The periods of a time. */
  readonly granularities?: readonly Granularity[];
}

/** More steps are rarely meant, and every step multiplies the paths to try. */
const MAX_STEPS = 3;

/** The fields that apply to all of these metrics. Throws for a metric that does not exist or is broken. */
export function listFields(model: Model, metrics: readonly string[]): QueryField[] {
  const facts = [...new Set(metrics.flatMap((name) => leavesOf(model, name).map(({ entity }) => entity)))];
  const compiles = (by: string): boolean => isCompiled(model, metrics, by);
  const time = ownTimeField(model, metrics);
  const found: QueryField[] = time && GRANULARITIES.some((unit) => compiles(`time.${unit}`)) ? [time] : [];
  const paths = new Set(facts.flatMap((fact) => pathsFrom(model, fact)));
  for (const path of paths) {
    const fields = fieldsAt(model, facts[0]!, path);
    const plain = fields.filter(({ granularities }) => !granularities);
    // Whether rows can be split depends on the path alone; a time can also be refused by itself.
    if (plain[0] && compiles(plain[0].field)) found.push(...plain);
    found.push(
      ...fields.filter(({ field, granularities }) => granularities && compiles(`${field}.${granularities[0]}`)),
    );
  }
  return found;
}

const isCompiled = (model: Model, metrics: readonly string[], by: string): boolean =>
  !(attempt(() => compileQuery(model, metricQuery.parse({ metrics, by: [by] }))) instanceof MetricError);

/** Paths of names to all entities that a row of `fact` meets at most one row of. */
function pathsFrom(model: Model, fact: Entity): string[] {
  const paths = [fact.name];
  const walk = (at: Entity, names: readonly string[], seen: ReadonlySet<string>): void => {
    if (names.length === MAX_STEPS) return;
    for (const step of [...at.roles, ...at.reverse]) {
      const next = model.entities.get(step.to);
      if (!step.isSafe || step.name === "" || !next || seen.has(stepKey(step))) continue;
      const path = [...names, step.isReverse ? step.to : step.name];
      paths.push(shortest(model, fact, path, next));
      walk(next, path, new Set([...seen, stepKey(step)]));
    }
  };
  walk(fact, [], new Set());
  return paths;
}

/** The same for both directions: a path that returns by the join it came by leads to rows that it already has. */
const stepKey = ({ from, to, columns, toColumns, isReverse }: Role): string =>
  JSON.stringify(isReverse ? [to, from, toColumns] : [from, to, columns]);

/** The entity's name, if it means the same as the path. */
function shortest(model: Model, fact: Entity, path: readonly string[], target: Entity): string {
  const long = path.join(".");
  const ways = attempt(() => [[target.name], path].map((names) => followPath(model.entities, fact.name, names, "one")));
  if (ways instanceof MetricError) return long;
  const [byName, byPath] = ways;
  const isSame = JSON.stringify(byName?.steps) === JSON.stringify(byPath?.steps);
  return isSame && byName?.others.length === 0 ? target.name : long;
}

function fieldsAt(model: Model, fact: Entity, path: string): QueryField[] {
  const entity = entityAt(model, fact, path);
  return entity ? [...entity.dimensions.values()].map((dimension) => asField(model, entity, dimension, path)) : [];
}

function entityAt(model: Model, fact: Entity, path: string): Entity | undefined {
  const reached = attempt(() => new FactScope(model.entities, fact).reach(path.split(".")));
  // Another fact may reach it; then this one cannot be grouped by it.
  return reached instanceof MetricError ? undefined : reached.entity;
}

function asField(model: Model, entity: Entity, dimension: Dimension, path: string): QueryField {
  const scope = new FactScope(model.entities, entity);
  const field = `${path}.${dimension.name}`;
  if (!dimension.time) {
    return { field, entity, dimension, type: typeOf(entitySql(scope, [], dimension.expression)) };
  }
  const type = typeOf(timeSql(scope, [], dimension, model.dialect));
  return { field, entity, dimension, type, granularities: granularitiesOf(dimension.time, type) };
}

const granularitiesOf = (finest: Granularity, type: SqlType): Granularity[] =>
  GRANULARITIES.filter(
    (unit) => contains(unit, finest) && (type === "instant" || (unit !== "minute" && unit !== "hour")),
  );

/** `time`: the own time of each metric. Undefined if one has none. */
function ownTimeField(model: Model, metrics: readonly string[]): QueryField | undefined {
  const times = metrics.flatMap((name) =>
    leavesOf(model, name).map(({ entity, measure }) => {
      const dimension = measure.time === undefined ? undefined : entity.dimensions.get(measure.time);
      return dimension && asField(model, entity, dimension, entity.name);
    }),
  );
  const [first] = times;
  if (!first || times.some((time) => !time)) return undefined;
  const granularities = GRANULARITIES.filter((unit) => times.every((time) => time?.granularities?.includes(unit)));
  // A label of one metric's time would be wrong for the others.
  const isShared = times.every((time) => time?.dimension.label === first.dimension.label);
  const { label: _label, description: _description, ...unlabelled } = first.dimension;
  return { ...first, field: "time", granularities, dimension: isShared ? first.dimension : unlabelled };
}
