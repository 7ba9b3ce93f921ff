import type { TableName } from "@tandem/connectors";
import type { JoinEnd, Relationship } from "./relationship.ts";
import { tableId } from "./data/table-facts.ts";

/** One join of a path, in walking direction. */
export interface JoinStep {
  from: JoinEnd;
  to: JoinEnd;
  /** Cardinality in walking direction. */
  cardinality: "many-to-one" | "one-to-many" | "one-to-one";
  /** For an ON clause, unquoted, with plain table names. */
  condition: string;
  confidence: number;
  /** Of a polymorphic reference: only rows of the referring table with this value. */
  when?: { table: TableName; column: string; equals: string };
}

export interface JoinPath {
  steps: readonly JoinStep[];
  /** Product of the steps' confidences. */
  confidence: number;
  /** Tables whose rows the joins repeat: sums over their columns are too high. */
  inflated: readonly InflatedTable[];
}

interface InflatedTable {
  /** Position on the path: 0 is the first table. */
  position: number;
  table: TableName;
  /** `fan-out`: a later step meets many rows. `lookup`: many rows of an earlier table refer to one of it. */
  reason: "fan-out" | "lookup";
}

const MAX_STEPS = 8;
/** Cost per step; uncertain steps and fan-out cost more. */
const STEP = 1;
const FAN_OUT = 0.25;
/** Up to a shared parent and down again: a cross join within each parent. */
const CROSSING = 4;
const costOf = (step: JoinStep): number =>
  STEP + (step.cardinality === "one-to-many" ? FAN_OUT : 0) - 2 * Math.log(Math.max(step.confidence, 0.01));
const crossingCost = (last: JoinStep | undefined, step: JoinStep): number =>
  last?.cardinality === "many-to-one" && step.cardinality === "one-to-many" ? CROSSING : 0;

/** Paths that cost little more than the best are as good: their meaning differs, and only the question can decide. */
const AS_GOOD = 0.6;
const MAX_CHOICES = 12;
/** Bounds the search in a densely joined schema. */
const MAX_VISITS = 20_000;

/** The cheapest trustworthy path between two tables, with others that are as good. Empty if there is none. */
export function joinPaths(relationships: readonly Relationship[], from: TableName, to: TableName): JoinPath[] {
  const usable = relationships.filter(({ status }) => status === "accepted");
  const steps = Map.groupBy(usable.flatMap(stepsOf), (step) => tableId(step.from.table));
  if (tableId(from) === tableId(to)) return selfJoins(usable, from);
  const best = cheapest(steps, from, to);
  if (best === undefined) return [];
  return waysWithin(steps, from, to, best + AS_GOOD).map(pathOf);
}

/** Employees → Employees by ReportsTo: from the referring row to the one it refers to. */
const selfJoins = (relationships: readonly Relationship[], table: TableName): JoinPath[] =>
  relationships
    .filter(({ from, to }) => tableId(from.table) === tableId(table) && tableId(to.table) === tableId(table))
    .toSorted((a, b) => b.confidence - a.confidence)
    .map((relationship) => pathOf([stepOf(relationship)]));

type Steps = ReadonlyMap<string, readonly JoinStep[]>;

/** The cost of the cheapest path. */
function cheapest(steps: Steps, from: TableName, to: TableName): number | undefined {
  const goal = tableId(to);
  // A step's cost depends on the previous one, so the state includes its direction.
  const placeOf = (table: TableName, last: JoinStep | undefined) =>
    JSON.stringify([tableId(table), last?.cardinality === "many-to-one"]);
  const start = placeOf(from, undefined);
  const best = new Map([[start, { table: tableId(from), cost: 0, count: 0, last: undefined as JoinStep | undefined }]]);
  const open = new Set([start]);
  while (open.size > 0) {
    const here = [...open].reduce((a, b) => (best.get(b)!.cost < best.get(a)!.cost ? b : a));
    open.delete(here);
    const { table, cost, count, last } = best.get(here)!;
    if (table === goal) return cost;
    if (count >= MAX_STEPS) continue;
    for (const step of steps.get(table) ?? []) {
      const there = placeOf(step.to.table, step);
      const total = cost + costOf(step) + crossingCost(last, step);
      if (total >= (best.get(there)?.cost ?? Infinity)) continue;
      best.set(there, { table: tableId(step.to.table), cost: total, count: count + 1, last: step });
      open.add(there);
    }
  }
  return undefined;
}

/** All paths up to a cost that visit no table twice, cheapest first. */
function waysWithin(steps: Steps, from: TableName, to: TableName, most: number): (readonly JoinStep[])[] {
  const goal = tableId(to);
  const left = stepsLeft(steps, goal);
  const found: { path: readonly JoinStep[]; cost: number }[] = [];
  let visits = 0;
  const walk = (table: string, path: readonly JoinStep[], cost: number, seen: ReadonlySet<string>): void => {
    if (table === goal) found.push({ path, cost });
    if (table === goal || path.length >= MAX_STEPS) return;
    for (const step of steps.get(table) ?? []) {
      const next = tableId(step.to.table);
      const total = cost + costOf(step) + crossingCost(path.at(-1), step);
      if (seen.has(next) || total + (left.get(next) ?? Infinity) * STEP > most || visits++ > MAX_VISITS) continue;
      walk(next, [...path, step], total, new Set([...seen, next]));
    }
  };
  walk(tableId(from), [], 0, new Set([tableId(from)]));
  return found
    .toSorted((a, b) => a.cost - b.cost)
    .slice(0, MAX_CHOICES)
    .map(({ path }) => path);
}

/** The least number of steps from each table to the goal. */
function stepsLeft(steps: Steps, goal: string): Map<string, number> {
  const left = new Map([[goal, 0]]);
  const queue = [goal];
  // Every step exists in both directions.
  for (const table of queue) {
    for (const step of steps.get(table) ?? []) {
      const next = tableId(step.to.table);
      if (left.has(next)) continue;
      left.set(next, left.get(table)! + 1);
      queue.push(next);
    }
  }
  return left;
}

function stepsOf(relationship: Relationship): JoinStep[] {
  const { from, to, cardinality } = relationship;
  if (tableId(from.table) === tableId(to.table)) return [];
  const there = stepOf(relationship);
  const back = cardinality === "one-to-one" ? cardinality : "one-to-many";
  return [there, { ...there, from: to, to: from, cardinality: back }];
}

function stepOf(relationship: Relationship): JoinStep {
  const { from, to, cardinality, confidence, when } = relationship;
  return {
    from,
    to,
    cardinality,
    condition: conditionOf(relationship),
    confidence,
    ...(when && { when: { table: from.table, ...when } }),
  };
}

/** Plain table names, qualified if both are equal. */
function conditionOf({ from, to, when }: Relationship): string {
  const full = from.table.name === to.table.name;
  const name = ({ schema, name: table }: TableName) => (full ? `${schema}.${table}` : table);
  const pairs = from.columns.map((column, i) => `${name(from.table)}.${column} = ${name(to.table)}.${to.columns[i]}`);
  if (when) pairs.push(`${name(from.table)}.${when.column} = '${when.equals.replaceAll("'", "''")}'`);
  return pairs.join(" AND ");
}

const pathOf = (steps: readonly JoinStep[]): JoinPath => ({
  steps,
  confidence: steps.reduce((product, step) => product * step.confidence, 1),
  inflated: inflatedBy(steps),
});

/** A later fan-out repeats the rows of every table before it; an earlier reference repeats those of every table after it. */
function inflatedBy(steps: readonly JoinStep[]): InflatedTable[] {
  const tables = [steps[0]!.from.table, ...steps.map(({ to }) => to.table)];
  return tables.flatMap((table, position): InflatedTable[] => {
    if (steps.slice(position).some(({ cardinality }) => cardinality === "one-to-many"))
      return [{ position, table, reason: "fan-out" }];
    if (steps.slice(0, position).some(({ cardinality }) => cardinality === "many-to-one"))
      return [{ position, table, reason: "lookup" }];
    return [];
  });
}
