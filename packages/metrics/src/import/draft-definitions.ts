import type { Expression } from "../expression/expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { MetricError } from "../metric-error.ts";
import { contains, type Granularity, GRANULARITIES } from "../sql/granularity.ts";
import type { MeasureEntry } from "../model/metrics-file.ts";
import type { Aggregate } from "../sql/sql.ts";
import { definedName, type Draft, type DraftEntity } from "./draft-file.ts";
import { conjuncts, EntityScope } from "./entity-scope.ts";
import type { ImportedDimension, ImportedMeasure } from "./imported-project.ts";
import { asCondition, isNumber, plain, type Term, type TermType } from "./sql-term.ts";

/** Drafts dimensions, segments and measures. All dimensions come first, because filters follow joins to them. */
export function draftDefinitions(draft: Draft): void {
  for (const entity of draft.entities) {
    for (const dimension of entity.source.dimensions) {
      const item = `dimension ${entity.source.id}.${dimension.name}`;
      const result = draft.attempt(dimension, item, () => draftDimension(draft, entity, dimension));
      if (result instanceof MetricError) entity.refused.set(`dimensions.${dimension.name}`, result);
    }
    const { time } = entity.source;
    if (time !== undefined) entity.file.time = timeName(draft, entity, time, entity.source);
    if (entity.file.time === undefined) delete entity.file.time;
  }
  for (const entity of draft.entities) {
    const scope = new EntityScope(draft, entity);
    for (const segment of entity.source.segments) {
      draft.attempt(segment, `segment ${entity.source.id}.${segment.name}`, () => {
        const name = definedName(draft, segment, segment.name);
        entity.file.segments[name] = writeExpression(asCondition(scope.translate(segment.sql)));
        entity.sources.set(`segments.${name}`, { path: segment.path, line: segment.line });
      });
    }
    for (const measure of entity.source.measures) {
      const item = `measure ${entity.source.id}.${measure.name}`;
      const result = draft.attempt(measure, item, () => draftMeasure(draft, entity, measure));
      if (result instanceof MetricError) entity.refused.set(`measures.${measure.name}`, result);
    }
  }
}

/** The time of an entity. If it was left out, its measures that rely on it are left out, too. */
function timeName(draft: Draft, entity: DraftEntity, time: string, at: { path: string; line: number }) {
  const name = Object.keys(entity.file.dimensions).find((known) => known === time.toLowerCase());
  if (name !== undefined && entity.file.dimensions[name]?.time !== undefined) return name;
  if (!entity.refused.has(`dimensions.${time}`)) {
    draft.leaveOut(at, `entity ${entity.source.id}: time`, `${time} is no time dimension of it.`);
  }
  return undefined;
}

function draftDimension(draft: Draft, entity: DraftEntity, given: ImportedDimension): void {
  const scope = new EntityScope(draft, entity);
  const term = scope.translate(given.sql, given.name);
  if (given.time === undefined && term.period !== undefined) {
    throw new MetricError("unsupported", "It is a rounded time, and the project does not call it a time.");
  }
  const time = given.time === undefined ? undefined : granularityOf(draft, entity, given, term);
  const isRounded = draft.project.format === "dbt" && time !== undefined;
  entity.terms.set(given.name, isRounded ? { ...term, period: time } : term);
  if (given.isHidden) return;
  const name = definedName(draft, given, given.name);
  if (entity.file.dimensions[name]) throw new MetricError("unsupported", `${entity.source.id} has two of this name.`);
  const text = writeExpression(term.expression);
  const { label, description, aka } = given;
  entity.file.dimensions[name] = {
    ...(text !== name && { expr: text }),
    ...(time && { time }),
    ...(label !== undefined && { label }),
    ...(description !== undefined && { description }),
    ...(aka !== undefined && { aka: [...aka] }),
  };
  entity.sources.set(`dimensions.${name}`, { path: given.path, line: given.line });
  if (time && hasZone(entity, term)) {
    const item = `dimension ${entity.source.id}.${given.name}`;
    draft.note(
      given,
      item,
      "Its days begin at midnight in UTC here. Give it a `zone` if the project's sessions use another.",
    );
  }
}

const hasZone = ({ table }: DraftEntity, { expression }: Term): boolean =>
  expression.kind === "reference" &&
  table.columns.some(
    ({ name, type }) => name === expression.reference.name && /with time zone|timestamptz/i.test(type),
  );

function granularityOf(draft: Draft, entity: DraftEntity, given: ImportedDimension, term: Term): Granularity {
  if (given.time === "stored") {
    const { expression } = term;
    const name =
      expression.kind === "reference" && expression.reference.path.length === 0 ? expression.reference.name : "";
    const isDay = entity.table.columns.some((column) => column.name === name && column.kind === "date");
    return term.period ?? (isDay ? "day" : "minute");
  }
  const wanted = given.time!.toLowerCase();
  if (["second", "millisecond", "microsecond", "nanosecond"].includes(wanted)) {
    draft.note(
      given,
      `dimension ${entity.source.id}.${given.name}`,
      `It is known by ${wanted}; periods here begin at the minute.`,
    );
    return "minute";
  }
  const time = GRANULARITIES.find((known) => known === wanted);
  if (!time) throw new MetricError("unsupported", `Its granularity ${wanted} has no counterpart.`);
  if (term.period !== undefined && !contains(time, term.period)) {
    throw new MetricError("unsupported", `It is rounded to ${term.period}s, and is said to be known by ${time}.`);
  }
  return time;
}

/** Adds a measure of the project under its own name. */
function draftMeasure(draft: Draft, entity: DraftEntity, given: ImportedMeasure): void {
  const scope = new EntityScope(draft, entity);
  const name = definedName(draft, given, given.name);
  if (entity.file.measures[name]) throw new MetricError("unsupported", `${entity.source.id} has two of this name.`);
  const term = given.sql === undefined ? undefined : scope.translate(given.sql);
  const summed: Term | undefined =
    given.isSumOfBoolean && term
      ? { expression: flag(asCondition(term), { kind: "number", value: "0" }), type: "integer" }
      : term;
  const { entry, type } = measureEntry(given.aggregate, summed, draft.catalogue.dialect);
  const named = given.time === undefined ? undefined : measureTime(entity, given.time);
  const time = named === entity.file.time ? undefined : named;
  const per = given.over?.per.flatMap((key) => scope.keyOrDimension(key)).map((each) => writeExpression(each)) ?? [];
  if (per.length > 0 && !isDay(entity, given.time)) {
    draft.note(
      given,
      `measure ${name}`,
      `Of several rows of one period, only those of the ${given.over!.time} moment count. MetricFlow adds all rows of that period.`,
    );
  }
  entity.file.measures[name] = {
    ...entry,
    ...(time !== undefined && { time }),
    ...(given.over && { over: { time: given.over.time, ...(per.length > 0 && { per }) } }),
    ...(given.unit !== undefined && { unit: given.unit }),
    ...(given.description !== undefined && { description: given.description }),
  };
  entity.sources.set(`measures.${name}`, { path: given.path, line: given.line });
  entity.measureTypes.set(name, type);
}

function isDay({ table, terms }: DraftEntity, time: string | undefined): boolean {
  const expression = terms.get(time ?? "")?.expression;
  if (expression?.kind !== "reference" || expression.reference.path.length > 0) return false;
  return table.columns.find(({ name }) => name === expression.reference.name)?.kind === "date";
}

function measureTime(entity: DraftEntity, time: string): string {
  const name = time.toLowerCase();
  if (entity.file.dimensions[name]?.time !== undefined) return name;
  throw (
    entity.refused.get(`dimensions.${time}`) ??
    new MetricError("broken_definition", `Its time ${time} is no time dimension of ${entity.source.id}.`)
  );
}

/**
 * The aggregate of an expression. `case when c then x end` means `x` where `c`: rows without a value count for no aggregate.
 */
export function measureEntry(
  aggregate: Aggregate,
  term: Term | undefined,
  dialect: Draft["catalogue"]["dialect"],
): { entry: MeasureEntry; type: TermType } {
  if (!term) return { entry: { count: "rows" }, type: "integer" };
  const { operand, where } = splitCase(plain(term));
  const isBoolean = term.type === "boolean" && ["sum", "average", "median"].includes(aggregate);
  const value: Expression = isBoolean
    ? {
        kind: "case",
        branches: [
          { when: operand, result: { kind: "number", value: "1" } },
          { when: { kind: "not", operand }, result: { kind: "number", value: "0" } },
        ],
        otherwise: { kind: "null" },
      }
    : operand;
  const countsRows =
    aggregate === "count" && (value.kind === "number" || value.kind === "text" || value.kind === "boolean");
  const text = countsRows ? "rows" : writeExpression(value);
  return {
    entry: { [aggregate]: text, ...(where.length > 0 && { where: where.map((each) => writeExpression(each)) }) },
    type: aggregateType(aggregate, isBoolean ? { ...term, type: "integer" } : term, dialect),
  };
}

function aggregateType(aggregate: Aggregate, term: Term, dialect: Draft["catalogue"]["dialect"]): TermType {
  switch (aggregate) {
    case "count":
    case "count_distinct":
      return "integer";
    case "average":
    case "median":
      return "number";
    case "sum":
      if (!isNumber(term)) return "unknown";
      return term.type === "bigint" && dialect === "postgres" ? "number" : term.type;
    case "min":
    case "max":
      return term.type;
  }
}

function splitCase(expression: Expression): { operand: Expression; where: Expression[] } {
  if (expression.kind !== "case" || expression.branches.length !== 1 || expression.otherwise.kind !== "null") {
    return { operand: expression, where: [] };
  }
  const { when, result } = expression.branches[0]!;
  return { operand: result, where: conjuncts(when) };
}

const flag = (when: Expression, otherwise: Expression): Expression => ({
  kind: "case",
  branches: [{ when, result: { kind: "number", value: "1" } }],
  otherwise,
});
