import { MetricError } from "../metric-error.ts";
import type { Entity, Role } from "./model.ts";

const MAX_STEPS = 6;

export type Entities = ReadonlyMap<string, Entity>;

/** Whether a path must never meet more than one row, or may meet many (only a filter may). */
export type Reach = "one" | "many";

export interface FoundPath {
  readonly steps: readonly Role[];
  /** Longer ways to the same entity. */
  readonly others: readonly (readonly Role[])[];
}

/**
 * The steps from an entity along a path of names: of a role, or of another entity if one shortest way leads there.
 * Undefined if there is no way. Throws `ambiguous` if there are several.
 */
export function followPath(
  entities: Entities,
  from: string,
  path: readonly string[],
  reach: Reach,
): FoundPath | undefined {
  let at = from;
  const steps: Role[] = [];
  const others: (readonly Role[])[] = [];
  for (const name of path[0] === from ? path.slice(1) : path) {
    const found = oneStepByName(entities, at, name, reach) ?? wayToEntity(entities, at, name, reach);
    if (!found) return undefined;
    steps.push(...found.steps);
    others.push(...found.others);
    at = found.steps.at(-1)!.to;
  }
  return { steps, others };
}

function oneStepByName(entities: Entities, at: string, name: string, reach: Reach): FoundPath | undefined {
  const role = stepsFrom(entities, at, reach).find((step) => step.name === name && !step.isReverse);
  return role && { steps: [role], others: [] };
}

function wayToEntity(entities: Entities, from: string, to: string, reach: Reach): FoundPath | undefined {
  if (!entities.has(to) || from === to) return undefined;
  const ways = allWays(entities, from, to, reach);
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

function allWays(entities: Entities, from: string, to: string, reach: Reach): Role[][] {
  const found: Role[][] = [];
  const walk = (at: string, way: readonly Role[], seen: ReadonlySet<string>): void => {
    if (way.length > 0 && at === to) return void found.push([...way]);
    if (way.length === MAX_STEPS) return;
    for (const role of stepsFrom(entities, at, reach)) {
      if (!seen.has(role.to)) walk(role.to, [...way, role], new Set([...seen, role.to]));
    }
  };
  walk(from, [], new Set([from]));
  return found;
}

function stepsFrom(entities: Entities, at: string, reach: Reach): Role[] {
  const entity = entities.get(at);
  if (!entity) return [];
  return [...entity.roles, ...entity.reverse].filter(({ isSafe }) => isSafe || reach === "many");
}

export const wayText = (way: readonly Role[]): string =>
  way.map(({ name, columns, to }) => `${name || to} (${columns.join(", ")})`).join(" → ");
