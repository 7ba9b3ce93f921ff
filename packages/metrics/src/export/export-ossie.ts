import { type Expression, mapReferences, reference, referencesOf } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { followPath } from "../model/entity-paths.ts";
import { aggregateOf, type MetricEntry, type MetricsFile } from "../model/metrics-file.ts";
import type { Model } from "../model/model.ts";
import {
  cannotHold,
  conditionsOf,
  ExportReport,
  type ExportResult,
  expressionSql,
  onlyWhere,
} from "./export-result.ts";

const NAMES = { sum: "SUM", count: "COUNT", min: "MIN", max: "MAX", average: "AVG", median: "MEDIAN" } as const;

/** Writes files of a connection as an Apache Ossie model. */
export function exportOssie(name: string, files: readonly MetricsFile[], model: Model): ExportResult {
  const report = new ExportReport();
  const datasets = files.map((file) => datasetOf(file, report));
  const relationships = files.flatMap((file) => relationshipsOf(file, model, report));
  const metrics = files.flatMap((file) =>
    Object.entries(file.metrics ?? {}).flatMap(([metric, entry]) => {
      const item = `metric ${metric}`;
      const sql = report.attempt(item, () => {
        if (!model.metrics.has(metric)) throw cannotHold("It is broken.");
        return metricSql(metric, { files, model });
      });
      if (sql === undefined) return [];
      if ("measure" in entry && file.measures?.[entry.measure]?.count === "rows") {
        report.drop(`${item}: rows`, "Ossie's COUNT(*) names no dataset, so a column of the key is counted.");
      }
      for (const key of ["label", "owner", "page", "unit"] as const) {
        if (entry[key] !== undefined) report.drop(`${item}: ${key}`, "Ossie has no place for it.");
      }
      return [{ name: metric, ...described(entry), expression: ansi(sql) }];
    }),
  );
  return {
    document: {
      version: "0.2.0.dev0",
      semantic_model: [
        {
          name,
          datasets,
          ...(relationships.length > 0 && { relationships }),
          ...(metrics.length > 0 && { metrics }),
        },
      ],
    },
    notHeld: report.notHeld,
  };
}

const ansi = (expression: string): object => ({ dialects: [{ dialect: "ANSI_SQL", expression }] });

const described = ({ description, aka }: { description?: string | undefined; aka?: string[] | undefined }): object => ({
  ...(description !== undefined && { description }),
  ...(aka !== undefined && aka.length > 0 && { ai_context: { synonyms: aka } }),
});

function datasetOf(file: MetricsFile, report: ExportReport): object {
  const { entity, description, table, grain, dimensions = {}, segments = {}, measures = {}, time } = file;
  for (const segment of Object.keys(segments)) {
    report.drop(`segment ${entity}.${segment}`, "Ossie has no segments. Metrics that use it hold its condition.");
  }
  if (time !== undefined) report.drop(`entity ${entity}: time`, "Ossie has no default time.");
  for (const [name, measure] of Object.entries(measures)) {
    for (const key of ["time", "unit", "description"] as const) {
      if (measure[key] !== undefined) report.drop(`measure ${entity}.${name}: ${key}`, "Ossie has no measures.");
    }
  }
  return {
    name: entity,
    source: table,
    primary_key: grain,
    ...(description !== undefined && { description }),
    fields: Object.entries(dimensions).flatMap(([name, dimension]) => {
      const item = `dimension ${entity}.${name}`;
      const expression = parseExpression(dimension.expr ?? `"${name}"`);
      const sql = report.attempt(item, () => {
        if (referencesOf(expression).some(({ path }) => path.length > 0)) {
          throw cannotHold("It is a column of another dataset.");
        }
        return expressionSql(expression);
      });
      if (sql === undefined) return [];
      if (dimension.time) report.drop(`${item}: ${dimension.time}`, "Ossie has no granularity.");
      if (dimension.zone !== undefined) report.drop(`${item}: zone`, "Ossie has no time zones.");
      return [
        {
          name,
          expression: ansi(sql),
          dimension: { is_time: dimension.time !== undefined },
          ...(dimension.label !== undefined && { label: dimension.label }),
          ...described(dimension),
        },
      ];
    }),
  };
}

function relationshipsOf({ entity }: MetricsFile, model: Model, report: ExportReport): object[] {
  return (model.entities.get(entity)?.roles ?? []).flatMap((role) => {
    if (role.when) {
      report.drop(`role ${entity}.${role.name}`, "The join has a condition.");
      return [];
    }
    return [
      {
        name: `${entity}_${role.name || role.columns.join("_")}`,
        from: entity,
        to: role.to,
        from_columns: role.columns,
        to_columns: role.toColumns,
      },
    ];
  });
}

interface Definitions {
  readonly files: readonly MetricsFile[];
  readonly model: Model;
}

/** The SQL of a metric, with the SQL of all that it is computed from. */
function metricSql(name: string, definitions: Definitions): string {
  const file = definitions.files.find(({ metrics }) => metrics?.[name])!;
  const entry: MetricEntry = file.metrics![name]!;
  if ("measure" in entry) return simpleSql(entry, file, definitions);
  if ("ratio" in entry) {
    const [numerator, denominator] = entry.ratio.map((input) => metricSql(input, definitions));
    return `1.0 * (${numerator}) / NULLIF(${denominator}, 0)`;
  }
  if ("cumulative" in entry) throw cannotHold("Ossie has no running totals.");
  if (Object.values(entry.with ?? {}).some(({ offset }) => offset !== undefined)) {
    throw cannotHold("Ossie has no values of earlier periods.");
  }
  const inputs: string[] = [];
  const marked = mapReferences(parseExpression(entry.derived), ({ name: alias }) => {
    inputs.push(metricSql(entry.with?.[alias]?.metric ?? alias, definitions));
    return reference(`tandem_input_${inputs.length - 1}`);
  });
  return expressionSql(marked).replaceAll(/tandem_input_(\d+)/g, (_, at: string) => `(${inputs[Number(at)]!})`);
}

function simpleSql(
  entry: Extract<MetricEntry, { measure: string }>,
  file: MetricsFile,
  { model }: Definitions,
): string {
  const measure = file.measures![entry.measure]!;
  if (measure.over) throw cannotHold("Ossie has no measures that are not additive over time.");
  const { aggregate, expression: operand = key(file) } = aggregateOf(measure);
  const conditions = [...conditionsOf(file, measure.where), ...conditionsOf(file, entry.where)];
  const sql = expressionSql(mapReferences(onlyWhere(operand, conditions), (reference) => qualify(reference)));
  return aggregate === "count_distinct" ? `COUNT(DISTINCT ${sql})` : `${NAMES[aggregate]}(${sql})`;

  function qualify({ path, name }: { path: readonly string[]; name: string }): Expression {
    const found = followPath(model.entities, file.entity, path, "one");
    const target = found?.steps.at(-1)?.to ?? file.entity;
    // SQL names a dataset, not the way to it.
    if (!found || (path.length > 0 && !isOnlyWay(target, found.steps))) {
      throw cannotHold(`Several joins lead to ${target}, and Ossie's SQL cannot say which one is meant.`);
    }
    return { kind: "reference", reference: { path: [target], name } };
  }

  function isOnlyWay(target: string, steps: readonly unknown[]): boolean {
    if (target === file.entity) return false;
    try {
      const direct = followPath(model.entities, file.entity, [target], "one");
      return (
        direct !== undefined && direct.others.length === 0 && JSON.stringify(direct.steps) === JSON.stringify(steps)
      );
    } catch {
      return false;
    }
  }
}

/** A column that is never NULL, so that counting it counts rows and names their dataset. */
const key = ({ grain }: MetricsFile): Expression => reference(grain[0]!);
