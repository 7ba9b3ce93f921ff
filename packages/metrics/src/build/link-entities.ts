import { MetricError } from "../metric-error.ts";
import { attemptIn } from "./attempt-in.ts";
import { type CataloguedJoin, isUnique, tableText } from "../model/catalogued-table.ts";
import type { MetricsFile } from "../model/metrics-file.ts";
import type { BrokenDefinition, Entity, Role } from "../model/model.ts";

type Entities = ReadonlyMap<string, Entity>;

/** Turns the catalogue's joins between tables of entities into roles. */
export function linkEntities(entities: Entities, files: readonly MetricsFile[], broken: BrokenDefinition[]): Entities {
  const roles = new Map<string, Role[]>();
  for (const entity of entities.values()) {
    const named = files.find((file) => file.entity === entity.name)?.roles ?? {};
    const links = linksOf(entity, entities);
    for (const [name, columns] of Object.entries(named)) {
      attemptIn(broken, entity.name, name, () => checkRole(entity, links, name, columns));
    }
    roles.set(
      entity.name,
      links.map((link) => roleOf(entity, link, links, named)),
    );
  }
  const all = [...roles.values()].flat();
  return new Map(
    [...entities].map(([name, entity]) => [
      name,
      {
        ...entity,
        roles: roles.get(name)!,
        reverse: all.filter(({ to }) => to === name).map((role) => reversed(role, entities)),
      },
    ]),
  );
}

interface Link {
  join: CataloguedJoin;
  target: Entity;
}

const linksOf = (entity: Entity, entities: Entities): Link[] =>
  entity.table.joins.flatMap((join) => {
    const target = [...entities.values()].find(({ table }) => tableText(table) === tableText(join.to));
    return target ? [{ join, target }] : [];
  });

function checkRole(entity: Entity, links: readonly Link[], name: string, columns: readonly string[]): void {
  const matching = links.filter(({ join }) => isSame(join.columns, columns));
  if (matching.length === 1) return;
  const place = `${tableText(entity.table)} (${columns.join(", ")})`;
  throw new MetricError(
    "broken_definition",
    matching.length === 0
      ? `The role ${name} needs an accepted join of ${place} to the table of an entity, and there is none.`
      : `The role ${name} fits several joins of ${place}.`,
    "Accept the join in the catalogue, and define an entity for the table that it leads to.",
  );
}

function roleOf(
  entity: Entity,
  { join, target }: Link,
  links: readonly Link[],
  named: Record<string, readonly string[]>,
): Role {
  const given = Object.entries(named).find(([, columns]) => isSame(columns, join.columns))?.[0];
  const rivals = links.filter((link) => link.target === target);
  const isOnlyOne = rivals.length === 1 && target !== entity && named[target.name] === undefined;
  return {
    name: given ?? (isOnlyOne ? target.name : ""),
    isReverse: false,
    from: entity.name,
    to: target.name,
    columns: join.columns,
    toColumns: join.toColumns,
    ...(join.when && { when: { ...join.when, side: "from" as const } }),
    isSafe: isUnique(target.table, join.toColumns),
  };
}

function reversed({ from, to, columns, toColumns, when }: Role, entities: Entities): Role {
  return {
    name: from,
    isReverse: true,
    from: to,
    to: from,
    columns: toColumns,
    toColumns: columns,
    ...(when && { when: { ...when, side: "to" as const } }),
    isSafe: isUnique(entities.get(from)!.table, columns),
  };
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((column) => b.includes(column));
