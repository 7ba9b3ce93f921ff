import type { Dimension, Model } from "../model/model.ts";
import { FactScope } from "../plan/fact-scope.ts";
import { dimensionOf, ownTime, readField } from "../plan/field.ts";
import { leavesOf } from "./metric-parts.ts";

/** The dimension that a field of a compiled query means. Its own time differs between metrics: the first one's is returned. */
export function findDimension(model: Model, metrics: readonly string[], text: string): Dimension {
  const leaves = metrics.flatMap((name) => leavesOf(model, name));
  const [{ entity, measure }] = leaves as [(typeof leaves)[number]];
  const field = readField(text, [...new Set(leaves.map((leaf) => leaf.entity))], model);
  if (field.kind === "own_time") return ownTime(entity, measure);
  return dimensionOf(new FactScope(model.entities, entity).reach(field.path).entity, field.name);
}
