import { nearest } from "@tandem/protocol";
import { MetricError } from "../metric-error.ts";
import { type Granularity, GRANULARITIES } from "../sql/granularity.ts";
import type { Dimension, Entity, Measure, Model } from "../model/model.ts";

/** A dimension as a query names it. */
export type Field =
  /** The own time of each measure. */
  | { readonly kind: "own_time"; readonly text: string; readonly unit?: Granularity }
  | {
      readonly kind: "dimension";
      readonly text: string;
      readonly path: readonly string[];
      readonly name: string;
      readonly unit?: Granularity;
    };

/** Reads `time.month`, `placed.month`, `customer.segment` or `ship_to.country.name`. */
export function readField(text: string, facts: readonly Entity[], model: Model): Field {
  const names = text.split(".");
  const last = GRANULARITIES.find((unit) => unit === names.at(-1));
  const hasUnit = last !== undefined && names.length > 1 && !isDimension(names, model);
  const [parts, unit] = hasUnit ? [names.slice(0, -1), { unit: last }] : [names, {}];
  if (parts.length === 1 && parts[0] === "time") return { kind: "own_time", text, ...unit };
  const name = parts.at(-1)!;
  const path = parts.length > 1 ? parts.slice(0, -1) : [ownerOf(name, facts, model).name];
  return { kind: "dimension", text, path, name, ...unit };
}

const isDimension = (names: readonly string[], model: Model): boolean =>
  names.length === 2 && model.entities.get(names[0]!)?.dimensions.has(names[1]!) === true;

/** A name without a path must belong to one entity: rows of two would be grouped by different things. */
function ownerOf(name: string, facts: readonly Entity[], model: Model): Entity {
  const having = (entities: Iterable<Entity>) => [...entities].filter(({ dimensions }) => dimensions.has(name));
  const own = having(facts);
  const candidates = own.length > 0 ? own : having(model.entities.values());
  if (candidates.length === 1) return candidates[0]!;
  if (candidates.length > 1) {
    const owners = candidates.map((entity) => `${entity.name}.${name}`);
    throw new MetricError("ambiguous", `${name} is a dimension of several entities.`, `Write ${owners.join(" or ")}.`);
  }
  const known = facts.flatMap((entity) =>
    [...entity.dimensions.keys()].map((dimension) => `${entity.name}.${dimension}`),
  );
  const all = [...model.entities.values()].flatMap((entity) =>
    [...entity.dimensions.keys()].map((dimension) => `${entity.name}.${dimension}`),
  );
  const meant = nearest(
    name,
    all.map((text) => text.slice(text.indexOf(".") + 1)),
  );
  const advice = meant ? `Did you mean ${all.find((text) => text.endsWith(`.${meant}`))}? ` : "";
  throw new MetricError(
    "unknown_name",
    `There is no dimension ${name}.`,
    `${advice}Known here: ${known.join(", ") || "none"}.`,
  );
}

/** The time dimension of a measure. */
export function ownTime(entity: Entity, measure: Measure): Dimension {
  const dimension = measure.time === undefined ? undefined : entity.dimensions.get(measure.time);
  if (dimension) return dimension;
  throw new MetricError(
    "unknown_name",
    `The measure ${measure.name} of ${entity.name} has no time.`,
    `Name a time dimension under \`time\` in the file of ${entity.name}.`,
  );
}

export function dimensionOf(entity: Entity, name: string): Dimension {
  const dimension = entity.dimensions.get(name);
  if (dimension) return dimension;
  const known = [...entity.dimensions.keys()];
  const meant = nearest(name, known);
  throw new MetricError(
    "unknown_name",
    `${entity.name} has no dimension ${name}.`,
    known.length > 0 ? `${meant ? `Did you mean ${meant}? ` : ""}It has ${known.join(", ")}.` : undefined,
  );
}

/** Whether a field is the own time of a measure, however the query names it. */
export const isOwnTime = (field: Field, entity: Entity, measure: Measure): boolean =>
  field.kind === "own_time" ||
  (field.path.length === 1 && field.path[0] === entity.name && field.name === measure.time);
