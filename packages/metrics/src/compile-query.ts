import { MetricError } from "./metric-error.ts";
import type { Entity, Model } from "./model/model.ts";
import { isOwnTime, ownTime, readField } from "./plan/field.ts";
import { comparison } from "./plan/filter-sql.ts";
import { type Leaf, Leaves } from "./plan/leaf.ts";
import { nameOwnTime } from "./plan/name-own-time.ts";
import { fillPeriods } from "./plan/fill-periods.ts";
import { planCumulative, rowsOf } from "./plan/plan-cumulative.ts";
import { dayOfEarlier, planEarlierDays } from "./plan/plan-earlier-days.ts";
import { dimensionName, type FactPlan, planFact, type QueryContext } from "./plan/plan-fact.ts";
import { needsRanks, planMedian } from "./plan/plan-median.ts";
import { planSemiAdditive } from "./plan/plan-semi-additive.ts";
import { withRanges } from "./plan/time-ranges.ts";
import type { MetricQuery } from "@tandem/protocol";
import {
  compare,
  relation,
  type Output,
  output,
  type Select,
  type Sql,
  type SqlType,
  type Statement,
  typeOf,
} from "./sql/sql.ts";
import { writeStatement } from "./sql/write-statement.ts";

interface CompiledColumn {
  readonly name: string;
  readonly kind: "dimension" | "metric";
  readonly type: SqlType;
}

export interface CompiledQuery {
  readonly sql: string;
  readonly columns: readonly CompiledColumn[];
  /** The metrics of the query, and those that it only filters by. */
  readonly metrics: readonly string[];
  /** Which rows each metric is computed from, in sentences. */
  readonly plan: readonly string[];
  readonly warnings: readonly string[];
}

const RESULT = "merged";

/**
 * Compiles a query to one SELECT. Each fact is aggregated at its own grain before facts meet, so that no join multiplies rows.
 * Throws `MetricError` if no SQL is known to give the right numbers.
 */
export function compileQuery(model: Model, query: MetricQuery, now: Date = new Date()): CompiledQuery {
  const leaves = new Leaves(model);
  const repeated = [...query.metrics, ...query.by].find((name, at, all) => all.indexOf(name) !== at);
  if (repeated !== undefined) throw new MetricError("ambiguous", `${repeated} is named twice.`);
  for (const name of query.metrics) leaves.value(name, RESULT);
  const computed = computedMetrics(model, query, leaves);
  for (const name of computed) leaves.value(name, RESULT);
  const entities = [...new Set(leaves.all.map(({ entity }) => entity))];
  const context = readContext(model, query, computed, entities, now);
  checkFinest(context, leaves.all);
  const facts = factsOf(leaves.all, context).map((fact, at) => ({ fact, name: `fact${at + 1}` }));
  const current = facts.flatMap(({ fact: [leaf], name }) => {
    if (leaf!.offset) return [];
    return leaf!.cumulative ? [rowsOf(name)] : [name];
  });
  const plans = facts.map(({ fact, name }) => planOne(context, fact, name, current));
  const isMerged = plans.length > 1 || query.fill;
  const source = isMerged ? RESULT : "fact1";
  const dimensions = query.by.map((name, at): Output => ({
    name,
    sql: { op: "display", operand: dimension(source, at, plans) },
  }));
  const metrics = query.metrics.map((name): Output => ({ name, sql: leaves.value(name, source) }));
  const last: Select = {
    outputs: [...dimensions, ...metrics],
    from: relation(source),
    joins: [],
    where: [...havingConditions(query, computed, leaves, source), ...presence(plans, source)],
  };
  const statement: Statement = {
    named: [...inOrder(plans), ...(isMerged ? merged(plans, query, context) : [])],
    last,
    order: orderOf(query),
    limit: query.limit,
  };
  return {
    sql: writeStatement(statement, model.dialect),
    columns: last.outputs.map(({ name, sql }, at) => ({
      name,
      kind: at < query.by.length ? "dimension" : "metric",
      type: typeOf(sql),
    })),
    metrics: computed,
    plan: plans.map(planText),
    warnings: [...new Set(plans.flatMap(({ warnings }) => warnings))],
  };
}

function computedMetrics(model: Model, query: MetricQuery, { all }: Leaves): string[] {
  const filtered = query.where.map(({ field }) => field).filter((name) => model.metrics.has(name));
  for (const name of filtered) {
    const owner = all.find(({ entity }) => entity.dimensions.has(name))?.entity.name;
    if (owner !== undefined && !query.metrics.includes(name)) {
      throw new MetricError(
        "ambiguous",
        `${name} is a metric and a dimension of ${owner}.`,
        `For the dimension, write ${owner}.${name}.`,
      );
    }
  }
  return [...new Set([...query.metrics, ...filtered])];
}

function readContext(
  model: Model,
  query: MetricQuery,
  computed: readonly string[],
  entities: readonly Entity[],
  now: Date,
): QueryContext {
  return {
    model,
    now,
    fields: query.by.map((text) => readField(text, entities, model)),
    filters: query.where
      .filter(({ field }) => !computed.includes(field))
      .map((filter) => ({ filter, field: readField(filter.field, entities, model) })),
    segments: query.segments.map((text) => {
      const parts = text.split(".");
      const owners = entities.filter(({ segments }) => segments.has(text));
      if (parts.length === 1 && owners.length !== 1) {
        throw new MetricError("unknown_name", `There is no single segment ${text}.`, "Write entity.segment.");
      }
      return parts.length === 1
        ? { path: [owners[0]!.name], name: text }
        : { path: parts.slice(0, -1), name: parts.at(-1)! };
    }),
  };
}

/** Without a unit, days of one fact would stand below hours or months of another. */
function checkFinest({ fields }: QueryContext, leaves: readonly Leaf[]): void {
  const field = fields.find(({ kind, unit }) => kind === "own_time" && !unit);
  if (!field) return;
  const units = [...new Set(leaves.map(({ entity, measure }) => ownTime(entity, measure).time!))];
  if (units.length < 2) return;
  throw new MetricError(
    "ambiguous",
    `${field.text} is grouped by ${units[0]} for some of the metrics, and by ${units[1]} for others.`,
    `Name the period, such as ${field.text}.month.`,
  );
}

/** Leaves that can share one pass over their entity's rows. */
function factsOf(leaves: readonly Leaf[], { fields, filters, model }: QueryContext): Leaf[][] {
  const usesOwnTime = [...fields, ...filters.map(({ field }) => field)].some((field) => field.kind === "own_time");
  const groups = Map.groupBy(leaves, (leaf) =>
    JSON.stringify([
      leaf.entity.name,
      leaf.offset,
      usesOwnTime || leaf.offset ? leaf.measure.time : null,
      leaf.measure.over || leaf.cumulative || needsRanks(leaf, model.dialect) ? leaf.column : null,
    ]),
  );
  return [...groups.values()];
}

function planOne(given: QueryContext, leaves: readonly Leaf[], name: string, current: readonly string[]): FactPlan {
  const leaf = leaves[0]!;
  const named = nameOwnTime(given, leaf);
  if (!leaf.offset && !leaf.cumulative) return planLeaves(named, leaves, name);
  const context = withRanges(named, leaf);
  if (leaf.offset) checkOffset(context, leaf);
  if (dayOfEarlier(context, leaf) >= 0) {
    const earlier = planLeaves({ ...context, isUnmoved: true }, leaves, `${name}_earlier`);
    return planEarlierDays(context, leaf, earlier, name);
  }
  if (leaf.cumulative) return planCumulative(context, leaf, name, current);
  return planLeaves(context, leaves, name);
}

function planLeaves(context: QueryContext, leaves: readonly Leaf[], name: string): FactPlan {
  const leaf = leaves[0]!;
  if (leaf.measure.over) return planSemiAdditive(context, leaf, name);
  return needsRanks(leaf, context.model.dialect) ? planMedian(context, leaf, name) : planFact(context, leaves, name);
}

/** Running totals last, and all of their rows first: the calendar of each reads the periods of every fact. */
function inOrder(plans: readonly FactPlan[]): Statement["named"] {
  const isRunning = ({ leaves }: FactPlan): boolean => leaves[0]!.cumulative !== undefined;
  const [running, others] = [plans.filter(isRunning), plans.filter((plan) => !isRunning(plan))];
  return [
    ...others.flatMap(({ named }) => named),
    ...running.map(({ named }) => named[0]!),
    ...running.flatMap(({ named }) => named.slice(1)),
  ];
}

/** Without a time in the query, an earlier value would be the same as the current one. */
function checkOffset({ fields, filters }: QueryContext, leaf: Leaf): void {
  ownTime(leaf.entity, leaf.measure);
  const named = [...fields, ...filters.map(({ field }) => field)];
  if (named.some((field) => isOwnTime(field, leaf.entity, leaf.measure))) return;
  throw new MetricError(
    "unsafe",
    `${leaf.metric} is compared with an earlier time, and the query names no time.`,
    "Group or filter by time.",
  );
}

const isLater = ({ leaves }: FactPlan): boolean => leaves[0]!.offset === undefined;
const needsPresence = (plans: readonly FactPlan[]): boolean => plans.some(isLater) && !plans.every(isLater);

/** Facts below each other with NULLs in the columns of the others, grouped once: NULL groups stay whole. */
function merged(plans: readonly FactPlan[], query: MetricQuery, context: QueryContext): Statement["named"] {
  const leaves = plans.flatMap((plan) => plan.leaves);
  const marked = needsPresence(plans);
  const branches = plans.map((plan): Select => {
    const { name } = plan.named.at(-1)!;
    return {
      outputs: [
        ...query.by.map((_, at): Output => ({ name: dimensionName(at), sql: dimension(name, at, plans) })),
        ...leaves.map((leaf): Output => ({
          name: leaf.column,
          sql: plan.leaves.includes(leaf) ? column(name, leaf) : { op: "null", type: leaf.type },
        })),
        ...(marked ? [{ name: "present", sql: { op: "number", value: isLater(plan) ? "1" : "0" } as const }] : []),
      ],
      from: relation(name),
      joins: [],
      where: [],
    };
  });
  const filled = query.fill ? filledBranch() : undefined;
  const stacked = "stacked";
  const group: Select = {
    outputs: [
      ...query.by.map((_, at): Output => ({ name: dimensionName(at), sql: output(stacked, dimensionName(at)) })),
      ...[...leaves.map((leaf) => leaf.column), ...(marked ? ["present"] : [])].map((name): Output => ({
        name,
        sql: { op: "aggregate", function: "max", operand: output(stacked, name, "number") },
      })),
    ],
    from: relation(stacked),
    joins: [],
    where: [],
    ...(query.by.length > 0 && { groupBy: query.by.length }),
  };
  return [
    ...(filled?.named ?? []),
    { name: stacked, query: { union: [...branches, ...(filled ? [filled.branch] : [])] } },
    { name: RESULT, query: group },
  ];

  function filledBranch(): ReturnType<typeof fillPeriods> {
    const current = branches.filter((_, at) => isLater(plans[at]!));
    const rows = (current.length > 0 ? current : branches).map((branch) => ({
      ...branch,
      outputs: branch.outputs.slice(0, query.by.length),
    }));
    return fillPeriods(query, context, leaves[0]!, rows, [
      ...leaves.map((leaf): Output => ({ name: leaf.column, sql: { op: "null", type: leaf.type } })),
      ...(marked ? [{ name: "present", sql: { op: "number", value: "1" } as const }] : []),
    ]);
  }
}

/** A group exists if a current value does, not only an earlier one. */
const presence = (plans: readonly FactPlan[], source: string): Sql[] =>
  needsPresence(plans) ? [compare("=", output(source, "present", "number"), { op: "number", value: "1" })] : [];

function dimension(source: string, at: number, plans: readonly FactPlan[]): Sql {
  const { query } = plans[0]!.named[0]!;
  const first = "union" in query ? query.union[0]! : query;
  // Periods that a running total derives from its calendar are no columns of its rows.
  const found = first.outputs.find(({ name }) => name === dimensionName(at));
  return output(source, dimensionName(at), found && typeOf(found.sql));
}

const column = (source: string, leaf: Leaf): Sql => output(source, leaf.column, leaf.type);

const havingConditions = (query: MetricQuery, computed: readonly string[], leaves: Leaves, source: string): Sql[] =>
  query.where.flatMap((filter) => {
    if (!computed.includes(filter.field)) return [];
    if (!("op" in filter))
      throw new MetricError(
        "unknown_name",
        `${filter.field} is a metric, and has no range of time.`,
        "Use op and value.",
      );
    return [comparison(leaves.value(filter.field, source), filter)];
  });

function orderOf({ order, by, metrics }: MetricQuery): Statement["order"] {
  const named = order.map(({ field, descending }) => {
    if (by.includes(field) || metrics.includes(field)) return { output: field, isDescending: descending };
    throw new MetricError("unknown_name", `The query is ordered by ${field}, which it does not return.`);
  });
  const rest = by.filter((field) => !order.some((given) => given.field === field));
  // The remaining dimensions make the order and a limit repeatable.
  return [...named, ...rest.map((output) => ({ output, isDescending: false }))];
}

function planText({ leaves }: FactPlan): string {
  const { entity, offset } = leaves[0]!;
  const measures = [...new Set(leaves.map(({ measure }) => measure.name))].join(", ");
  const back = offset ? `, ${offset.count} ${offset.unit} earlier` : "";
  return `${measures}: one row per ${entity.name} (${entity.grain.join(", ")} of ${entity.table.schema}.${entity.table.name})${back}.`;
}
