import { type Expression, mapReferences, reference, referencesOf } from "../expression/expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { MetricError } from "../metric-error.ts";
import type { MeasureEntry } from "../model/metrics-file.ts";
import type { Aggregate } from "../sql/sql.ts";
import { kindOf } from "../verdict/tree/sql-node.ts";
import type { DraftEntity, DraftMetric, MetricSink } from "./draft-file.ts";
import { measureEntry } from "./draft-definitions.ts";
import { EntityScope, isNameOf } from "./entity-scope.ts";
import type { ImportedFormula, ImportedMetric } from "./imported-project.ts";
import { isPresent } from "./parse-fragment.ts";
import { asCondition, plain, type Term, untranslatable } from "./sql-term.ts";
import { translateSql } from "./translate-sql.ts";

const AGGREGATE_FIELDS = new Set("this distinct filter star name original_name span inferred_type".split(" "));
const NAMES: Record<string, Aggregate> = { sum: "sum", avg: "average", min: "min", max: "max", median: "median" };

type Formula = Extract<ImportedFormula, { kind: "aggregates" }>;

interface FoundAggregate {
  readonly entity: DraftEntity;
  readonly aggregate: Aggregate;
  readonly term: Term | undefined;
  readonly where: readonly string[];
}

/** A metric that is written as SQL with aggregates: one of them, a ratio of two, or a computation with several. */
export function draftAggregates(
  metrics: MetricSink,
  metric: ImportedMetric,
  name: string,
  formula: Formula,
): DraftMetric {
  const { draft } = metrics;
  const found: FoundAggregate[] = [];
  const inputs: DraftMetric[] = [];
  const types: Term["type"][] = [];
  const term = translateSql(draft.parse(formula.sql, draft.flavour), {
    dialect: draft.catalogue.dialect,
    aggregate: (node) => {
      const aggregate = readAggregate(metrics, node, formula);
      const { type } = measureEntry(aggregate.aggregate, aggregate.term, draft.catalogue.dialect);
      found.push(aggregate);
      types.push(type);
      return { expression: reference(mark(found.length - 1)), type };
    },
    resolve: (qualifiers, wanted) => {
      const input = measureNamed(metrics, formula, qualifiers, wanted);
      if (formula.filters.length + formula.segments.length > 0) {
        throw untranslatable("A filter applies to a computation with other measures.");
      }
      inputs.push(input);
      return { expression: reference(input.name), type: input.type };
    },
  });
  const measureAt = (at: number): MeasureEntry => {
    const { aggregate, term: operand, where } = found[at]!;
    const { entry } = measureEntry(aggregate, operand, draft.catalogue.dialect);
    const all = [...(entry.where ?? []), ...where];
    return { ...entry, ...(all.length > 0 && { where: all }) };
  };
  const add = (own: string, at: number, about: ImportedMetric["about"]): DraftMetric => {
    const { entity } = found[at]!;
    if (entity.file.measures[own]) throw new MetricError("unsupported", `${entity.source.id} has two measures ${own}.`);
    entity.file.measures[own] = measureAt(at);
    entity.sources.set(`measures.${own}`, { path: metric.path, line: metric.line });
    return metrics.add(metric, own, entity, { measure: own }, about, types[at]!);
  };
  const { expression } = term;
  if (found.length === 1 && isMark(expression, 0)) return add(name, 0, metric.about);
  const added = found.map(
    ({ entity }, at) => metrics.sameMeasure(entity, measureAt(at)) ?? add(`${name}__${at + 1}`, at, {}),
  );
  const first = added[0] ?? inputs[0];
  if (!first) throw untranslatable("It is neither an aggregate nor computed from measures.");
  const named = mapReferences(plain(term), ({ name: wanted }) =>
    reference(added[Number(MARK.exec(wanted)?.[1] ?? -1)]?.name ?? wanted),
  );
  const sides = ratioOf(named);
  const entry = sides ? { ratio: sides } : { derived: writeExpression(named) };
  return metrics.add(metric, name, first.entity, entry, metric.about, term.type);
}

const MARK = /^aggregate (\d+)$/;
const mark = (at: number): string => `aggregate ${at}`;
const isMark = (expression: Expression, at: number): boolean =>
  expression.kind === "reference" && expression.reference.name === mark(at);

/** A measure of KTX by its name, of this source or of another. */
function measureNamed(
  metrics: MetricSink,
  { entity }: Formula,
  qualifiers: readonly string[],
  name: string,
): DraftMetric {
  const { draft } = metrics;
  const qualifier = qualifiers.at(-1);
  const owner = qualifier === undefined ? entity : draft.entities.find((each) => isNameOf(each, qualifier))?.source.id;
  const id = `${owner}.${name}`;
  if (owner !== undefined && draft.project.metrics.some((metric) => metric.id === id)) return metrics.define(id);
  throw untranslatable(`${[...qualifiers, name].join(".")} stands outside an aggregate, and is no measure.`);
}

function readAggregate(metrics: MetricSink, node: unknown, formula: Formula): FoundAggregate {
  const { kind, body } = kindOf(node);
  const other = Object.entries(body).find(([key, value]) => !AGGREGATE_FIELDS.has(key) && isPresent(value));
  if (other) throw untranslatable(`The aggregate ${kind} with \`${other[0]}\` has no counterpart.`);
  const isDistinct = body["distinct"] === true;
  if (isDistinct && kind !== "count" && kind !== "min" && kind !== "max") {
    throw untranslatable(`${kind}(distinct …) has no counterpart.`);
  }
  const aggregate = kind === "count" ? (isDistinct ? "count_distinct" : "count") : NAMES[kind]!;
  const operand = body["star"] === true ? undefined : body["this"];
  const entity = factOf(metrics, formula, [operand, body["filter"]]);
  const scope = new EntityScope(metrics.draft, entity);
  const term = operand === undefined ? undefined : translateSql(operand, scope.sql);
  const own = isPresent(body["filter"]) ? [writeExpression(asCondition(translateSql(body["filter"], scope.sql)))] : [];
  const segments = formula.segments.map((segment) => {
    const name = segment.toLowerCase();
    if (name in entity.file.segments) return name;
    throw untranslatable(`Its segment ${segment} was skipped.`);
  });
  const filters = formula.filters
    .flatMap((filter) => scope.conditions(filter, undefined))
    .map((each) => writeExpression(each));
  if (formula.entity !== undefined && term && referencesOf(term.expression).some(({ path }) => path.length > 0)) {
    throw untranslatable("It aggregates columns of another source, whose rows it would count several times.");
  }
  return { entity, aggregate, term, where: [...own, ...filters, ...segments] };
}

/** The entity whose rows an aggregate runs over: the one from which all the others that it names are reached. */
function factOf({ draft }: MetricSink, formula: Formula, nodes: readonly unknown[]): DraftEntity {
  if (formula.entity !== undefined) return draft.entity(formula.entity);
  const named = new Set<DraftEntity>();
  const visit = (node: unknown): void => {
    if (!isPresent(node)) return;
    translateSql(node, {
      dialect: draft.catalogue.dialect,
      resolve: (qualifiers, name) => {
        const entity = owner(qualifiers, name);
        named.add(entity);
        return new EntityScope(draft, entity).resolve([], name);
      },
    });
  };
  nodes.forEach(visit);
  const all = [...named];
  if (all.length === 0 && draft.project.entities.length === 1) return draft.entity(draft.project.entities[0]!.id);
  if (all.length === 0) throw untranslatable("It counts rows, and does not say of which dataset.");
  const facts = all.filter((entity) => all.every((other) => other === entity || reaches(entity, other)));
  if (facts.length === 1) return facts[0]!;
  throw untranslatable(
    `It aggregates over ${all.map(({ source }) => source.id).join(" and ")}, and no verified joins lead from one to the others.`,
  );

  function owner(qualifiers: readonly string[], name: string): DraftEntity {
    const qualifier = qualifiers.at(-1);
    if (qualifier !== undefined) {
      const source = draft.project.entities.find(({ id }) => id.toLowerCase() === qualifier.toLowerCase());
      return draft.entity(source?.id ?? qualifier);
    }
    const owners = draft.entities.filter(
      ({ source, table }) =>
        source.dimensions.some((field) => field.name.toLowerCase() === name.toLowerCase()) ||
        table.columns.some((stored) => stored.name.toLowerCase() === name.toLowerCase()),
    );
    if (owners.length === 1) return owners[0]!;
    throw untranslatable(`${name} belongs to ${owners.length === 0 ? "no dataset" : "several datasets"}.`);
  }
}

function reaches(from: DraftEntity, to: DraftEntity, seen = new Set<DraftEntity>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return from.links.some((link) => !link.refused && reaches(link.to, to, seen));
}

/** `a / b`, also with a divisor that is protected from zero, as a ratio always is. */
function ratioOf(expression: Expression): [string, string] | undefined {
  if (expression.kind !== "arithmetic" || expression.operator !== "/") return undefined;
  const name = (operand: Expression): string | undefined =>
    operand.kind === "reference" ? operand.reference.name : undefined;
  const { left, right } = expression;
  const isProtected =
    right.kind === "call" &&
    right.name === "nullif" &&
    right.operands[1]?.kind === "number" &&
    Number(right.operands[1].value) === 0;
  const [numerator, denominator] = [name(left), name(isProtected ? right.operands[0]! : right)];
  return numerator === undefined || denominator === undefined ? undefined : [numerator, denominator];
}
