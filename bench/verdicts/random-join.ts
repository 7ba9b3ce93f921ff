import type { CataloguedTable } from "@tandem/metrics";

export interface RandomJoin {
  sql: string;
  /** Finds rows of the aggregated table that the join repeats. */
  repeated: string;
}

/** The same numbers for the same seed. */
export function numbersFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state / 4_294_967_296;
  };
}

/**
 * An aggregate over a random walk along the joins of a database, up or down, with planted faults: a part of a composite key, a pair
 * of unrelated columns, and no condition at all. Some aggregate a subquery that holds the join.
 */
export function randomJoin(tables: readonly CataloguedTable[], seed: number): RandomJoin {
  const random = numbersFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const chance = (share: number): boolean => random() < share;
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const usable = tables.filter(({ keys, joins }) => keys.length > 0 && joins.length > 0);
  const members = [{ alias: "t0", table: pick(usable) }];
  let from = `${quote(members[0]!.table.name)} t0`;
  for (let steps = 1 + Math.floor(random() * 3); steps > 0; steps -= 1) step();
  const target = pick(members);
  const key = target.table.keys[0]!.map((column) => `${target.alias}.${quote(column)}`);
  const numeric = target.table.columns.filter(({ kind }) => kind === "integer" || kind === "decimal");
  const value = `${target.alias}.${quote((pick(numeric) ?? target.table.columns[0]!).name)}`;
  const aggregate = pick(["sum", "count", "avg"]);
  const group = pick(members);
  const grouped = `${group.alias}.${quote(pick(group.table.columns).name)}`;
  const forms = [
    () => `SELECT ${aggregate}(${value}) AS v FROM ${from}`,
    () => `SELECT ${grouped} AS g, ${aggregate}(${value}) AS v FROM ${from} GROUP BY ${grouped}`,
    () => `SELECT ${aggregate}(x.v) AS v FROM (SELECT ${value} AS v FROM ${from}) x`,
    () =>
      `WITH q AS (SELECT ${[...key.map((column, at) => `${column} AS k${at}`), `${value} AS v`].join(", ")} FROM ${from}) SELECT ${aggregate}(v) AS v FROM q`,
    () => `SELECT ${aggregate}(CASE WHEN ${grouped} IS NOT NULL THEN ${value} END) AS v FROM ${from}`,
  ];
  return {
    sql: pick(forms)(),
    repeated: `SELECT 1 FROM ${from} WHERE ${key[0]} IS NOT NULL GROUP BY ${key.join(", ")} HAVING count(*) > 1 LIMIT 1`,
  };

  function step(): void {
    const base = pick(members);
    const alias = `t${members.length}`;
    const up = base.table.joins.map((join) => ({ join, isUp: true, owner: base.table }));
    const down = tables.flatMap((owner) =>
      owner.joins.filter(({ to }) => to.name === base.table.name).map((join) => ({ join, isUp: false, owner })),
    );
    const { join, isUp, owner } = pick([...up, ...down, ...up]);
    const other = isUp ? tables.find(({ name }) => name === join.to.name) : owner;
    if (!other) return;
    members.push({ alias, table: other });
    const kind = pick(["JOIN", "JOIN", "LEFT JOIN"]);
    const source = `${quote(other.name)} ${alias}`;
    if (chance(0.005)) {
      from = `${from} CROSS JOIN ${source}`;
      return;
    }
    const all = join.columns.map((column, at) => [column, join.toColumns[at]!] as const);
    const pairs = all.length > 1 && chance(0.3) ? all.slice(0, 1) : all;
    const wrong = chance(0.02) ? pick(other.columns).name : undefined;
    const on = pairs.map(([own, foreign], at) => {
      const [mine, theirs] = isUp ? [own, foreign] : [foreign, own];
      return `${base.alias}.${quote(mine)} = ${alias}.${quote(at === 0 ? (wrong ?? theirs) : theirs)}`;
    });
    from = `${from} ${kind} ${source} ON ${on.join(" AND ")}`;
  }
}
