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
  status: "accepted" | "review";
}

export interface JoinPath {
  steps: readonly JoinStep[];
  /** Product of the steps' confidences. */
  confidence: number;
  /** Pitfalls when joining and aggregating, in sentences. */
  warnings: readonly string[];
}

export interface JoinPathOptions {
  /** Also uses unaccepted links; such a path is returned only if there is no other. */
  includeReview?: boolean;
  maxSteps?: number;
}

/** Cost per step; uncertain steps and fan-out cost more. */
const STEP = 1;
const FAN_OUT = 0.25;
/** Up to a shared parent and down again: a cross join within each parent. */
const CROSSING = 4;
const costOf = (step: JoinStep): number =>
  STEP +
  (step.cardinality === "one-to-many" ? FAN_OUT : 0) -
  2 * Math.log(Math.max(step.confidence, 0.01)) +
  (step.status === "review" ? 3 : 0);

interface Way {
  table: string;
  cost: number;
  path: readonly JoinStep[];
}

/** The cheapest trustworthy path between two tables, or undefined. */
export function joinPath(
  relationships: readonly Relationship[],
  from: TableName,
  to: TableName,
  { includeReview = false, maxSteps = 8 }: JoinPathOptions = {},
): JoinPath | undefined {
  const steps = new Map<string, JoinStep[]>();
  for (const relationship of relationships) {
    if (relationship.status === "rejected" || (relationship.status === "review" && !includeReview)) continue;
    for (const step of stepsOf(relationship, relationship.status)) {
      const id = tableId(step.from.table);
      steps.set(id, [...(steps.get(id) ?? []), step]);
    }
  }
  const goal = tableId(to);
  // A step's cost depends on the previous one, so the state includes its direction.
  const placeOf = (table: TableName, last: JoinStep | undefined) =>
    JSON.stringify([tableId(table), last?.cardinality === "many-to-one"]);
  const start = placeOf(from, undefined);
  const best = new Map<string, Way>([[start, { table: tableId(from), cost: 0, path: [] }]]);
  const open = new Set([start]);
  while (open.size > 0) {
    const here = [...open].reduce((a, b) => (best.get(b)!.cost < best.get(a)!.cost ? b : a));
    open.delete(here);
    const { table, cost, path } = best.get(here)!;
    if (table === goal) return path.length === 0 ? undefined : describe(path, steps);
    if (path.length >= maxSteps) continue;
    const last = path.at(-1);
    for (const step of steps.get(table) ?? []) {
      const crosses = last?.cardinality === "many-to-one" && step.cardinality === "one-to-many";
      const there = placeOf(step.to.table, step);
      const total = cost + costOf(step) + (crosses ? CROSSING : 0);
      if (total >= (best.get(there)?.cost ?? Infinity)) continue;
      best.set(there, { table: tableId(step.to.table), cost: total, path: [...path, step] });
      open.add(there);
    }
  }
  return undefined;
}

function stepsOf(relationship: Relationship, status: "accepted" | "review"): JoinStep[] {
  const { from, to, cardinality, confidence } = relationship;
  if (tableId(from.table) === tableId(to.table)) return [];
  const condition = conditionOf(relationship);
  const back = cardinality === "one-to-one" ? cardinality : "one-to-many";
  return [
    { from, to, cardinality, condition, confidence, status },
    { from: to, to: from, cardinality: back, condition, confidence, status },
  ];
}

/** Plain table names, qualified if both are equal. */
function conditionOf({ from, to, when }: Relationship): string {
  const full = from.table.name === to.table.name;
  const name = ({ schema, name: table }: TableName) => (full ? `${schema}.${table}` : table);
  const pairs = from.columns.map((column, i) => `${name(from.table)}.${column} = ${name(to.table)}.${to.columns[i]}`);
  if (when) pairs.push(`${name(from.table)}.${when.column} = '${when.equals.replaceAll("'", "''")}'`);
  return pairs.join(" AND ");
}

function describe(path: readonly JoinStep[], steps: ReadonlyMap<string, readonly JoinStep[]>): JoinPath {
  const warnings: string[] = [];
  const widening = path.filter(({ cardinality }) => cardinality === "one-to-many");
  for (const { from, to } of widening) {
    warnings.push(
      `One row of ${from.table.name} meets many of ${to.table.name}: sums over columns of ${from.table.name} count rows more than once.`,
    );
  }
  for (const [i, step] of path.entries()) {
    // Up and then down: rows match that only share the middle.
    if (step.cardinality === "many-to-one" && path[i + 1]?.cardinality === "one-to-many") {
      warnings.push(
        `${step.from.table.name} and ${path[i + 1]!.to.table.name} have only ${step.to.table.name} in common: every row of the one meets every row of the other there.`,
      );
    }
    if (step.status === "review") warnings.push(`${step.condition} is for review: nobody has accepted it.`);
    const others = (steps.get(tableId(step.from.table)) ?? []).filter(
      (other) =>
        other !== step && tableId(other.to.table) === tableId(step.to.table) && other.condition !== step.condition,
    );
    if (others.length > 0) {
      warnings.push(
        `${step.from.table.name} and ${step.to.table.name} can also be joined on ${others.map(({ condition }) => condition).join(", or on ")}.`,
      );
    }
  }
  return { steps: path, confidence: path.reduce((product, step) => product * step.confidence, 1), warnings };
}
