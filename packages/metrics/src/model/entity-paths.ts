import { MetricError } from "../metric-error.ts";
import type { Entity, Role } from "./model.ts";

const MAX_STEPS = 6;
/** Ways that are longer by at most so many steps are mentioned. */
const DETOUR = 2;
const MAX_WAYS = 100;

/** The parts of a model that a search for paths needs. */
export type JoinedEntities = ReadonlyMap<string, Pick<Entity, "roles" | "reverse">>;

/** Whether a path must never meet more than one row, or may meet many (only a filter may). */
export type Reach = "one" | "many";

export interface FoundPath {
  readonly steps: readonly Role[];
  /** Longer ways to the same entity. */
  readonly others: readonly (readonly Role[])[];
}

/**
 * The steps from an entity along a path of names: of a role, of another entity if one shortest way leads there, or of a role
 * of such an entity.
 * Undefined if there is no way. Throws `ambiguous` if there are several.
 */
export function followPath(
  entities: JoinedEntities,
  from: string,
  path: readonly string[],
  reach: Reach,
): FoundPath | undefined {
  let at = from;
  const steps: Role[] = [];
  const others: (readonly Role[])[] = [];
  for (const name of path[0] === from ? path.slice(1) : path) {
    const found =
      oneStepByName(entities, at, name, reach) ??
      wayToEntity(entities, at, name, reach) ??
      wayToRole(entities, at, name, reach);
    if (!found) return undefined;
    steps.push(...found.steps);
    others.push(...found.others);
    at = found.steps.at(-1)!.to;
  }
  return { steps, others };
}

function oneStepByName(entities: JoinedEntities, at: string, name: string, reach: Reach): FoundPath | undefined {
  const role = stepsFrom(entities, at, reach).find((step) => step.name === name && !step.isReverse);
  return role && { steps: [role], others: [] };
}

function wayToEntity(entities: JoinedEntities, from: string, to: string, reach: Reach): FoundPath | undefined {
  if (!entities.has(to) || from === to) return undefined;
  const ways = nearWays(entities, from, to, reach);
  const shortest = Math.min(...ways.map((way) => way.length));
  const [best, second] = ways.filter((way) => way.length === shortest);
  if (!best) return undefined;
  if (second) {
    throw new MetricError(
      "ambiguous",
      `${ways.length} ways lead from ${from} to ${to}: ${ways.slice(0, 4).map(wayText).join("; ")}.`,
      ways.some((way) => way.some(({ name }) => name === ""))
        ? `Name the joins under roles in the file of ${from}, and use the role's name.`
        : `Write the way out, such as ${best.map(({ name }) => name).join(".")}.`,
    );
  }
  return { steps: best, others: ways.filter((way) => way !== best) };
}

/** A role of another entity: from a line, `ship_to` is the role of its order. */
function wayToRole(entities: JoinedEntities, from: string, name: string, reach: Reach): FoundPath | undefined {
  if (entities.has(name)) return undefined;
  const owners = [...entities].filter(([, { roles }]) => roles.some((role) => role.name === name));
  const found = owners.flatMap(([owner]) => {
    const way = owner === from ? undefined : wayToEntity(entities, from, owner, reach);
    const role = way && oneStepByName(entities, owner, name, reach);
    return role ? [{ steps: [...way.steps, ...role.steps], others: way.others }] : [];
  });
  if (found.length < 2) return found[0];
  throw new MetricError(
    "ambiguous",
    `${name} is a role of several entities: ${found.map(({ steps }) => wayText(steps)).join("; ")}.`,
    `Write the entity before it, such as ${found[0]!.steps.at(-1)!.from}.${name}.`,
  );
}

/** The shortest ways first, and those that are little longer; not all of them where there are very many. */
function nearWays(entities: JoinedEntities, from: string, to: string, reach: Reach): Role[][] {
  const distance = distancesTo(entities, to, reach);
  const found: Role[][] = [];
  const walk = (at: string, way: readonly Role[], most: number): void => {
    if (at === to) return void found.push([...way]);
    for (const role of stepsFrom(entities, at, reach)) {
      const isNear = way.length + 1 + (distance.get(role.to) ?? Infinity) <= most;
      const isNew = role.to !== from && way.every((step) => step.to !== role.to);
      if (isNear && isNew && found.length < MAX_WAYS) walk(role.to, [...way, role], most);
    }
  };
  const shortest = distance.get(from) ?? Infinity;
  if (shortest <= MAX_STEPS) walk(from, [], shortest);
  const straight = found.splice(0);
  if (straight.length > 0) walk(from, [], Math.min(shortest + DETOUR, MAX_STEPS));
  return [...straight, ...found.filter((way) => way.length > shortest)];
}

/** The number of steps to an entity from each other one. */
function distancesTo(entities: JoinedEntities, to: string, reach: Reach): Map<string, number> {
  const distance = new Map([[to, 0]]);
  for (let steps = 1; steps <= MAX_STEPS; steps += 1) {
    for (const name of entities.keys()) {
      if (distance.has(name)) continue;
      const isNext = stepsFrom(entities, name, reach).some((role) => distance.get(role.to) === steps - 1);
      if (isNext) distance.set(name, steps);
    }
  }
  return distance;
}

function stepsFrom(entities: JoinedEntities, at: string, reach: Reach): Role[] {
  const entity = entities.get(at);
  if (!entity) return [];
  return [...entity.roles, ...entity.reverse].filter(({ isSafe }) => isSafe || reach === "many");
}

export const wayText = (way: readonly Role[]): string =>
  way.map(({ name, columns, to }) => `${name || to} (${columns.join(", ")})`).join(" → ");
