import { followPath } from "../model/entity-paths.ts";
import type { Model } from "../model/model.ts";
import { timeSql } from "./dimension-sql.ts";
import { FactScope } from "./fact-scope.ts";
import { type Field, isOwnTime, ownTime } from "./field.ts";
import type { Leaf } from "./leaf.ts";
import type { QueryContext } from "./plan-fact.ts";

/**
 * Recognizes the own time of a measure under the name that another entity gives it: the time of an order line is that of
 * its order. A range of `order.placed` would otherwise cut off the earlier rows that an offset or a running total needs.
 */
export function nameOwnTime(context: QueryContext, leaf: Leaf): QueryContext {
  if ((!leaf.offset && !leaf.cumulative && !leaf.measure.over) || leaf.measure.time === undefined) return context;
  const named = (field: Field): Field => ownField(field, leaf, context.model);
  return {
    ...context,
    fields: context.fields.map(named),
    filters: context.filters.map(({ filter, field }) => ({ filter, field: named(field) })),
  };
}

function ownField(field: Field, { entity, measure }: Leaf, { entities, dialect }: Model): Field {
  if (field.kind === "own_time" || isOwnTime(field, entity, measure)) return field;
  const steps = followPath(entities, entity.name, field.path, "one")?.steps;
  if (!steps) return field;
  const own = ownTime(entity, measure);
  const dimension = entities.get(steps.at(-1)?.to ?? entity.name)!.dimensions.get(field.name);
  if (!dimension?.time || dimension.zone !== own.zone) return field;
  const scope = new FactScope(entities, entity);
  const [given, wanted] = [timeSql(scope, field.path, dimension, dialect), timeSql(scope, [], own, dialect)];
  if (JSON.stringify(given) !== JSON.stringify(wanted)) return field;
  return { kind: "own_time", text: field.text, unit: field.unit ?? dimension.time };
}
