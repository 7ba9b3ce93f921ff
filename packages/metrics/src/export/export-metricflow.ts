import {
  type ColumnReference,
  type Expression,
  mapReferences,
  reference,
  referencesOf,
} from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { attempt, MetricError } from "../metric-error.ts";
import { aggregateOf, type MetricEntry, type MetricsFile } from "../model/metrics-file.ts";
import type { Model } from "../model/model.ts";
import {
  allOf,
  cannotHold,
  conditionsOf,
  ExportReport,
  type ExportResult,
  expressionSql,
  onlyWhere,
} from "./export-result.ts";
import { type ExportedModel, isOwn, ONE, semanticModel } from "./metricflow-model.ts";
import { followPath } from "../model/entity-paths.ts";

/** Writes files of a connection in the legacy YAML spec of dbt's semantic layer. */
export function exportMetricFlow(files: readonly MetricsFile[], model: Model): ExportResult {
  const report = new ExportReport();
  const models = files.map((file) => ({ file, ...semanticModel(file, measureNames(file, files), model, report) }));
  const context: MetricContext = { files, model, models };
  const metrics = files.flatMap((file) =>
    Object.entries(file.metrics ?? {}).flatMap(([name, entry]) => {
      if (!model.metrics.has(name)) {
        report.drop(`metric ${name}`, "It is broken.");
        return [];
      }
      return report.attempt(`metric ${name}`, () => exportMetric(name, entry, file, context)) ?? [];
    }),
  );
  if (
    files.some(({ metrics: given = {} }) =>
      Object.values(given).some((entry) => "ratio" in entry || "derived" in entry),
    )
  ) {
    report.drop(
      "ratio and derived metrics: missing inputs",
      "A sum without rows counts as zero here, and is NULL in MetricFlow.",
    );
  }
  return {
    document: { semantic_models: models.map(({ document }) => document), metrics },
    notHeld: report.notHeld,
  };
}

/** Measures share one list of names in MetricFlow. */
const measureNames = (file: MetricsFile, files: readonly MetricsFile[]): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(file.measures ?? {}).map((name) => {
      const isShared = files.some((other) => other !== file && other.measures?.[name]);
      return [name, isShared ? `${file.entity}_${name}` : name];
    }),
  );

interface MetricContext {
  readonly files: readonly MetricsFile[];
  readonly model: Model;
  readonly models: readonly (ExportedModel & { readonly file: MetricsFile })[];
}

function exportMetric(name: string, entry: MetricEntry, file: MetricsFile, context: MetricContext): object {
  const { label, description, owner, aka, page, unit } = entry;
  const meta = {
    ...(owner !== undefined && { owner }),
    ...(aka !== undefined && aka.length > 0 && { synonyms: aka }),
    ...(unit !== undefined && { unit }),
    ...(page !== undefined && { page }),
  };
  return {
    name,
    label: label ?? name,
    ...(description !== undefined && { description }),
    ...formulaOf(name, entry, file, context),
    ...(Object.keys(meta).length > 0 && { config: { meta } }),
  };
}

function formulaOf(name: string, entry: MetricEntry, file: MetricsFile, context: MetricContext): object {
  if ("measure" in entry) {
    const { measure, filter } = measureInput(name, entry, file, context);
    return { type: "simple", type_params: { measure }, ...(filter !== undefined && { filter }) };
  }
  if ("ratio" in entry) {
    const [numerator, denominator] = entry.ratio;
    requireHeld(entry.ratio, context);
    return { type: "ratio", type_params: { numerator, denominator } };
  }
  if ("derived" in entry) {
    const expression = parseExpression(entry.derived);
    const metrics = [...new Set(referencesOf(expression).map((column) => column.name))].map((alias) => {
      const input = entry.with?.[alias];
      if (!input) return { name: alias };
      return {
        name: input.metric,
        ...(alias !== input.metric && { alias }),
        ...(input.offset !== undefined && { offset_window: input.offset }),
      };
    });
    requireHeld(
      metrics.map((input) => input.name),
      context,
    );
    return { type: "derived", type_params: { expr: expressionSql(expression), metrics } };
  }
  const owner = context.files.find(({ metrics }) => metrics?.[entry.cumulative]);
  const input = owner?.metrics?.[entry.cumulative];
  if (!owner || !input || !("measure" in input)) throw cannotHold(`${entry.cumulative} is not a simple metric.`);
  const { measure, filter } = measureInput(name, input, owner, context);
  return {
    type: "cumulative",
    type_params: {
      measure: { name: measure, ...(filter !== undefined && { filter }) },
      cumulative_type_params: {
        ...(entry.window !== undefined && { window: entry.window }),
        ...(entry.to !== undefined && { grain_to_date: entry.to }),
        period_agg: "last",
      },
    },
  };
}

/** A metric can be held only if all that it is computed from can. */
function requireHeld(names: readonly string[], context: MetricContext): void {
  for (const name of names) {
    const file = context.files.find(({ metrics }) => metrics?.[name]);
    const entry = file?.metrics?.[name];
    if (!file || !entry || !context.model.metrics.has(name)) throw cannotHold(`It needs ${name}, which is broken.`);
    const formula = attempt(() => formulaOf(name, entry, file, context));
    if (formula instanceof MetricError) throw cannotHold(`It needs ${name}, which cannot be held.`);
  }
}

/** The measure and filter of a simple metric. Conditions that no filter can hold become part of a measure of its own. */
function measureInput(
  name: string,
  entry: Extract<MetricEntry, { measure: string }>,
  file: MetricsFile,
  { models, model }: MetricContext,
): { measure: string; filter?: string } {
  const own = models.find((each) => each.file === file)!;
  const exportedName = own.names.get(entry.measure);
  const exported = own.document.measures.find((measure) => measure["name"] === exportedName);
  if (!exported || exportedName === undefined) throw cannotHold(`Its measure ${entry.measure} cannot be held.`);
  const shared = own.filters.get(entry.measure) ?? [];
  const conditions = conditionsOf(file, entry.where);
  const asFilter = (given: readonly Expression[]): { filter?: string } => {
    const all = allOf(given);
    return all ? { filter: metricFlowFilter(all, file.entity, model) } : {};
  };
  try {
    return { measure: exportedName, ...asFilter([...shared, ...conditions]) };
  } catch (error) {
    if (!conditions.every(isOwn)) throw error;
  }
  const source = file.measures![entry.measure]!;
  const { expression: operand = ONE } = aggregateOf(source);
  const where = conditionsOf(file, source.where).filter((condition) => !shared.includes(condition));
  const measure = `${name}__measure`;
  const inner = where.filter(isOwn);
  if (!own.document.measures.some((known) => known["name"] === measure)) {
    own.document.measures.push({
      ...exported,
      name: measure,
      expr: expressionSql(onlyWhere(operand, [...inner, ...conditions])),
    });
  }
  return { measure, ...asFilter(shared) };
}

/** A condition as a filter of MetricFlow, which names dimensions only. Throws if a column is none. */
function metricFlowFilter(condition: Expression, entity: string, model: Model): string {
  const templates: string[] = [];
  const marked = mapReferences(condition, (column) => {
    templates.push(templateOf(column, entity, model));
    return reference(`tandem_template_${templates.length - 1}`);
  });
  return expressionSql(marked).replaceAll(/tandem_template_(\d+)/g, (_, at: string) => templates[Number(at)]!);
}

function templateOf({ path, name }: ColumnReference, from: string, model: Model): string {
  const found = followPath(model.entities, from, path, "one");
  const written = [...path, name].join(".");
  if (!found || found.steps.some((step) => step.isReverse || step.name === "" || step.columns.length > 1)) {
    throw cannotHold(`The way to ${written} has no name in MetricFlow.`);
  }
  const target = model.entities.get(found.steps.at(-1)?.to ?? from)!;
  const dimension = [...target.dimensions.values()].find(
    ({ expression, time }) =>
      !time &&
      expression.kind === "reference" &&
      expression.reference.path.length === 0 &&
      expression.reference.name === name,
  );
  if (!dimension) throw cannotHold(`${written} is no dimension, and filters of MetricFlow name only those.`);
  const steps = found.steps.map((step) => step.name);
  return `{{ Dimension('${[...(steps.length > 0 ? steps : [from]), dimension.name].join("__")}') }}`;
}
