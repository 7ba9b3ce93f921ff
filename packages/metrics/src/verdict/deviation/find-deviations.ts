import type { Measure, Metric, Model, Entity } from "../../model/model.ts";
import { tableText } from "../../model/catalogued-table.ts";
import { type AggregateCall, aggregateCalls } from "../tree/aggregate-calls.ts";
import { operandText } from "../check-aggregates.ts";
import { grainsOf } from "../shape/determined.ts";
import type { SelectRelations } from "../shape/select-relations.ts";
import { conjunctsOf, kindOf, listOf, type SqlNode } from "../tree/sql-node.ts";
import type { VerdictPart } from "../verdict.ts";
import { conditionsOf, definitionForm } from "./definition-form.ts";
import type { NormalForm } from "./normal-form.ts";
import { statementForm } from "./statement-form.ts";
import type { Expression } from "../../expression/expression.ts";

/** A metric that sums or counts columns of one table. */
interface Candidate {
  readonly metric: Metric & { readonly kind: "simple" };
  readonly measure: Measure;
  readonly entity: Entity;
}

const NAMES: Readonly<Record<string, Measure["aggregate"]>> = {
  sum: "sum",
  avg: "average",
  min: "min",
  max: "max",
  median: "median",
};

/** An aggregate of a statement, and the metric that is nearest to it. */
export interface ComparedAggregate {
  readonly call: AggregateCall;
  readonly metric: string;
  /** In words. None: the normal forms are equal. */
  readonly differences: readonly string[];
}

/**
 * Aggregates of a SELECT that use the table and columns of a metric, with the differences from it. Anything that cannot be
 * compared is left out: a wrong hint would be worse than none.
 */
export function compareWithMetrics(select: SqlNode, scope: SelectRelations, model: Model): ComparedAggregate[] {
  // A subquery, a view of another shape or a set operation may hold a condition that is not seen here.
  if (scope.relations.some(({ table }) => !table)) return [];
  const conditions = conjunctsOf(kindOf({ where: select["where_clause"] }).body["this"]);
  const on = listOf(select["joins"]).flatMap((join) => conjunctsOf(kindOf({ join }).body["on"]));
  const written = [...conditions, ...on].map((condition) => statementForm(condition, scope));
  if (written.some((form) => form === undefined)) return [];
  const filters = written.filter((form) => form !== undefined);
  const calls = aggregateCalls([select["expressions"], select["having"]]).filter(({ isWindow }) => !isWindow);
  return calls.flatMap((call) => {
    const value = valueOf(call, scope);
    if (!value) return [];
    const times = timesOf(select, scope);
    const compared = candidatesOf(model, value).map((candidate) => {
      const differences = differencesOf(candidate, value, filters, times, model);
      return differences && { call, metric: candidate.metric.name, differences };
    });
    // It may be the metric that could not be compared.
    if (!compared.every((one) => one !== undefined)) return [];
    const [nearest] = compared.toSorted((a, b) => a.differences.length - b.differences.length);
    return nearest ? [nearest] : [];
  });
}

export function findDeviations(select: SqlNode, scope: SelectRelations, model: Model): VerdictPart[] {
  return compareWithMetrics(select, scope, model).flatMap(({ call, metric, differences }): VerdictPart[] => {
    if (differences.length === 0) return [];
    const aggregate = `${call.name}(${operandText(call, scope)})`;
    const message = `${aggregate} is not the metric ${metric}: ${differences.join("; ")}.`;
    return [{ kind: "deviates", aggregate, metric, message }];
  });
}

interface AggregatedValue {
  readonly aggregate: Measure["aggregate"];
  readonly table: string;
  /** Undefined: rows are counted. */
  readonly form?: NormalForm;
}

function valueOf(call: AggregateCall, scope: SelectRelations): AggregatedValue | undefined {
  // A condition within the aggregate would be a filter of its own.
  const [value, ...others] = call.values;
  if (others.length > 0 || call.operands.length > call.values.length) return undefined;
  if (value === undefined) {
    const [grain] = call.name === "count" ? grainsOf(scope.relations, scope.equalities) : [];
    const table = grain === undefined ? undefined : scope.relations[grain]!.table;
    return table && { aggregate: "count", table: tableText(table) };
  }
  const form = statementForm(value, scope);
  const [table, ...more] = new Set(scope.columnsIn(value).map(({ relation }) => scope.relations[relation]!.table));
  const aggregate = call.name === "count" ? (call.isDistinct ? "count_distinct" : "count") : NAMES[call.name];
  if (!form || !table || more.length > 0 || aggregate === undefined) return undefined;
  if (call.isDistinct && aggregate !== "count_distinct") return undefined;
  return { aggregate, table: tableText(table), form };
}

function candidatesOf(model: Model, { aggregate, table, form }: AggregatedValue): Candidate[] {
  return [...model.metrics.values()].flatMap((metric): Candidate[] => {
    if (metric.kind !== "simple") return [];
    const entity = model.entities.get(metric.entity);
    const measure = entity?.measures.get(metric.measure);
    if (!entity || !measure || measure.over || measure.aggregate !== aggregate) return [];
    if (tableText(entity.table) !== table || (measure.expression === undefined) !== (form === undefined)) return [];
    const own = measure.expression && definitionForm(measure.expression, entity, model);
    const isSame = own && form ? areEqual(own.columns, form.columns) : measure.expression === undefined;
    return isSame ? [{ metric, measure, entity }] : [];
  });
}

/** Undefined: unknown. */
function differencesOf(
  { metric, measure, entity }: Candidate,
  { form }: AggregatedValue,
  filters: readonly NormalForm[],
  times: ReadonlySet<string>,
  model: Model,
): string[] | undefined {
  const found: string[] = [];
  const own = measure.expression && definitionForm(measure.expression, entity, model);
  if (measure.expression && own?.text !== form?.text) {
    found.push(`the metric's value is \`${expressionText(measure.expression)}\``);
  }
  for (const condition of [...measure.where, ...metric.where].flatMap(conditionsOf)) {
    const wanted = definitionForm(condition, entity, model);
    if (!wanted) return undefined;
    if (filters.some(({ text }) => text === wanted.text)) continue;
    // Another condition on the same column may imply it.
    if (filters.some(({ columns }) => [...columns].some((column) => wanted.columns.has(column)))) return undefined;
    found.push(`no \`${expressionText(condition)}\``);
  }
  const otherTime = otherTimeOf(measure, entity, times, model);
  return otherTime === undefined ? found : [...found, otherTime];
}

function otherTimeOf(measure: Measure, entity: Entity, times: ReadonlySet<string>, model: Model): string | undefined {
  const column = (name: string | undefined): string | undefined => {
    const dimension = name === undefined ? undefined : entity.dimensions.get(name);
    const form = dimension?.time ? definitionForm(dimension.expression, entity, model) : undefined;
    return form?.columns.size === 1 ? [...form.columns][0] : undefined;
  };
  const wanted = column(measure.time);
  if (wanted === undefined || times.has(wanted)) return undefined;
  const used = [...entity.dimensions.keys()].map(column).find((one) => one !== undefined && times.has(one));
  if (used === undefined) return undefined;
  const short = (name: string): string => name.slice(name.lastIndexOf(".") + 1);
  return `the metric's time is \`${short(wanted)}\`, not \`${short(used)}\``;
}

/** Stored columns in WHERE and GROUP BY, which choose the period. */
function timesOf(select: SqlNode, scope: SelectRelations): ReadonlySet<string> {
  const grouped = listOf(kindOf({ group: select["group_by"] }).body["expressions"]).map((expression) => {
    const { kind, body } = kindOf(expression);
    return kind === "literal" ? listOf(select["expressions"])[Number(body["value"]) - 1] : expression;
  });
  const known = (node: unknown): boolean => kindOf(node).kind !== "column" || scope.isKnown(kindOf(node).body);
  const uses = scope.columnsIn([select["where_clause"], grouped.filter(known)]);
  return new Set(
    uses.flatMap(({ relation, column }) => {
      const { table } = scope.relations[relation]!;
      return table ? [`${tableText(table)}.${column}`.toLowerCase()] : [];
    }),
  );
}

const areEqual = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((one) => b.has(one));

/** An expression as a person writes it in a definition. */
function expressionText(expression: Expression): string {
  const text = expressionText;
  switch (expression.kind) {
    case "reference":
      return [...expression.reference.path, expression.reference.name].join(".");
    case "number":
      return expression.value;
    case "text":
      return `'${expression.value.replaceAll("'", "''")}'`;
    case "boolean":
      return String(expression.value);
    case "null":
      return "null";
    case "negate":
      return `-${text(expression.operand)}`;
    case "not":
      return `not ${text(expression.operand)}`;
    case "arithmetic":
    case "compare":
      return `${text(expression.left)} ${expression.operator} ${text(expression.right)}`;
    case "and":
    case "or":
      return `(${text(expression.left)} ${expression.kind} ${text(expression.right)})`;
    case "in":
      return `${text(expression.operand)} in (${expression.values.map(text).join(", ")})`;
    case "like":
      return `${text(expression.operand)} like '${expression.pattern}'`;
    case "is_null":
      return `${text(expression.operand)} is null`;
    case "case":
      return `case ${expression.branches.map(({ when, result }) => `when ${text(when)} then ${text(result)}`).join(" ")} else ${text(expression.otherwise)} end`;
    case "call":
      return `${expression.name}(${expression.operands.map(text).join(", ")})`;
  }
}
