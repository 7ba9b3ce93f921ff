import type { RandomCase, RandomTable, Reference } from "./random-case.ts";
import { randomSource } from "./random-case.ts";

export interface RandomStatement {
  sql: string;
  /** Finds rows of the aggregated relation that the join repeats. */
  repeated: string;
  /** The joined rows before they are aggregated: group, value and key. */
  plain: { rows: string; aggregate: string; keys: number };
  /** Every join is one that the catalogue knows. */
  isKnown: boolean;
}

interface Member {
  alias: string;
  table: RandomTable;
  /** Columns in place of the table's own, for a subquery that groups by a reference. */
  grouped?: Reference;
}

/** A random aggregate over a random join: by references, by other columns, crossed, and over subqueries. */
export function randomStatement({ tables }: RandomCase, seed: number): RandomStatement {
  const random = randomSource(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const chance = (share: number): boolean => random() < share;
  const members: Member[] = [];
  let isKnown = true;
  let from = "";
  const where: string[] = [];
  add(pick(tables), "");
  for (let steps = below(4); steps > 0; steps -= 1) step();

  const target = pick(members);
  const key = target.grouped?.columns ?? target.table.key;
  const condition = where.length > 0 ? ` WHERE ${where.join(" AND ")}` : "";
  const group = chance(0.4) ? pick(members) : undefined;
  const aggregate = pick(["sum", "count", "avg"]);
  const value = `${aggregate}(${target.alias}.amount)`;
  const text = group
    ? `SELECT ${group.alias}.amount AS g, ${value} AS v FROM ${from}${condition} GROUP BY ${group.alias}.amount`
    : `SELECT ${value} AS v FROM ${from}${condition}`;
  const columns = key.map((column) => `${target.alias}.${column}`);
  return {
    sql: chance(0.2) ? `WITH q AS (${text}) SELECT * FROM q` : text,
    repeated: `SELECT ${columns.join(", ")}, count(*) FROM ${from}${condition ? `${condition} AND` : " WHERE"} ${columns.map((column) => `${column} IS NOT NULL`).join(" AND ")} GROUP BY ${columns.join(", ")} HAVING count(*) > 1`,
    plain: {
      rows: `SELECT ${group ? `/* grouped */ ${group.alias}.amount` : "0"} AS g, ${target.alias}.amount AS v, ${columns.map((column, at) => `${column} AS k${at}`).join(", ")} FROM ${from}${condition}`,
      aggregate,
      keys: columns.length,
    },
    isKnown,
  };

  function add(table: RandomTable, on: string, grouped?: Reference): void {
    const alias = `t${members.length}`;
    members.push({ alias, table, ...(grouped && { grouped }) });
    const source = grouped
      ? `(SELECT ${grouped.columns.join(", ")}, sum(amount) AS amount FROM ${table.name} GROUP BY ${grouped.columns.join(", ")})`
      : table.name;
    if (on === "") {
      from = from === "" ? `${source} AS ${alias}` : `${from} CROSS JOIN ${source} AS ${alias}`;
      return;
    }
    if (chance(0.1)) {
      from = `${from} CROSS JOIN ${source} AS ${alias}`;
      where.push(on);
      return;
    }
    from = `${from} ${pick(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])} ${source} AS ${alias} ON ${on}`;
  }

  function step(): void {
    const base = pick(members);
    const alias = `t${members.length}`;
    const pairs = (left: readonly string[], right: readonly string[]) =>
      left.map((column, at) => `${base.alias}.${column} = ${alias}.${right[at]}`).join(" AND ");
    if (chance(0.05)) {
      isKnown = false;
      return add(pick(tables), "");
    }
    if (chance(0.1)) {
      isKnown = false;
      return add(pick(tables), `${base.alias}.amount = ${alias}.amount`);
    }
    if (base.grouped) {
      const other = tables.find(({ name }) => name === base.grouped!.to)!;
      return add(other, pairs(base.grouped.columns, other.key));
    }
    const inward = tables.flatMap((table) =>
      table.references.filter(({ to }) => to === base.table.name).map((reference) => ({ table, reference })),
    );
    const choices = [
      ...base.table.references.map((reference) => () => {
        const other = tables.find(({ name }) => name === reference.to)!;
        const isPartial = other.key.length > 1 && chance(0.2);
        if (isPartial) isKnown = false;
        const fixed = chance(0.5)
          ? ` AND ${chance(0.7) ? `${alias}.${other.key.at(-1)}` : `${base.alias}.${base.table.key.at(-1)}`} = 0`
          : "";
        const part = `${pairs(reference.columns.slice(0, 1), other.key.slice(0, 1))}${isPartial ? fixed : ""}`;
        add(other, isPartial ? part : pairs(reference.columns, other.key));
      }),
      ...inward.map(
        ({ table, reference }) =>
          () =>
            add(table, pairs(base.table.key, reference.columns), chance(0.3) ? reference : undefined),
      ),
    ];
    if (choices.length > 0) pick(choices)();
  }
}
