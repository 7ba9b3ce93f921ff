import { MetricError } from "../../metric-error.ts";
import type {
  About,
  ImportedFilter,
  ImportedFormula,
  ImportedInput,
  ImportedMeasure,
  ImportedMetric,
  Located,
} from "../imported-project.ts";
import { type ProjectReader, readFilters, refuseOthers, required } from "../project-reader.ts";
import type { SourceNode } from "../source-node.ts";
import { readAbout } from "./read-about.ts";
import { measureOf } from "./read-measure.ts";
import { type RawModel, refuseDisabled } from "./read-semantic-model.ts";

/** Inputs of cumulative metrics name measures in the legacy spec. */
type RawInput = { metric: ImportedInput } | { measure: string; filters: readonly ImportedFilter[] };

export interface RawMetric extends Located {
  readonly name: string;
  readonly about: About;
  readonly filters: readonly ImportedFilter[];
  readonly formula:
    | Exclude<ImportedFormula, { kind: "simple" | "cumulative" | "aggregates" }>
    | {
        readonly kind: "simple";
        readonly measure: string;
        readonly filters: readonly ImportedFilter[];
        readonly missing?: string;
      }
    /** Latest spec: the metric is its own measure. */
    | {
        readonly kind: "own";
        readonly model: string | undefined;
        readonly measure: ImportedMeasure;
        readonly missing?: string;
      }
    | { readonly kind: "cumulative"; readonly input: RawInput; readonly to?: string; readonly window?: string };
}

const COMMON = ["name", "type", "label", "description", "filter", "config", "meta", "metadata", "type_params"];
const SIMPLE = [
  "measure",
  "agg",
  "expr",
  "agg_time_dimension",
  "agg_params",
  "percentile",
  "percentile_type",
  "non_additive_dimension",
  "fill_nulls_with",
  "join_to_timespine",
  "metric_aggregation_params",
];
const CUMULATIVE = ["measure", "input_metric", "window", "grain_to_date", "period_agg", "cumulative_type_params"];

/** A metric of any spec. The latest one has no `type_params`, and keeps their content at the metric. */
export function readMetric(node: SourceNode, reader: ProjectReader, model?: RawModel): RawMetric[] {
  const name = node.textOf("name") ?? "";
  const metric = reader.attempt(node, `metric ${name}`, (): RawMetric => {
    refuseDisabled(node);
    if (node.textOf("type") === "conversion") {
      throw new MetricError("unsupported", "A conversion metric has no counterpart.");
    }
    const given = node.get("type_params").isEmpty ? node : node.get("type_params");
    refuseOthers(node, [...COMMON, "hidden", "time_granularity", ...(given === node ? keysOf(node) : [])]);
    if (given !== node) refuseOthers(given, [...keysOf(node), "input_measures", "is_private"]);
    if (node.get("hidden").isTrue || given.get("is_private").isTrue) {
      reader.note(node, `metric ${name}`, "It is hidden in the project. Metrics of Tandem are visible.");
    }
    const grain = node.textOf("time_granularity");
    if (grain !== undefined) reader.leaveOut(node, `metric ${name}: time_granularity`, "A query names its period.");
    return {
      ...node.at,
      name: required(node, "name"),
      about: readAbout(node),
      filters: readFilters(node.get("filter")),
      formula: readFormula(node, given, reader, model),
    };
  });
  return metric ? [metric] : [];
}

function keysOf(node: SourceNode): string[] {
  switch (node.textOf("type") ?? "simple") {
    case "simple":
      return SIMPLE;
    case "ratio":
      return ["numerator", "denominator"];
    case "derived":
      return ["expr", "metrics", "input_metrics"];
    case "cumulative":
      return CUMULATIVE;
    default:
      return [];
  }
}

function readFormula(
  node: SourceNode,
  given: SourceNode,
  reader: ProjectReader,
  model: RawModel | undefined,
): RawMetric["formula"] {
  const type = node.textOf("type") ?? "simple";
  switch (type) {
    case "simple":
      return readSimple(node, given, reader, model);
    case "ratio":
      return {
        kind: "ratio",
        numerator: readInput(given.get("numerator"), "numerator").input,
        denominator: readInput(given.get("denominator"), "denominator").input,
      };
    case "derived": {
      const items = given.get(given.keys.includes("input_metrics") ? "input_metrics" : "metrics").items;
      const inputs = items.map((item) => readInput(item, "metrics"));
      return {
        kind: "derived",
        sql: required(given, "expr"),
        inputs: new Map(inputs.map(({ input, alias }) => [alias, input])),
      };
    }
    case "cumulative":
      return readCumulative(node, given, reader);
    default:
      throw new MetricError("unsupported", `The type ${type} is unknown.`);
  }
}

function readSimple(
  node: SourceNode,
  given: SourceNode,
  reader: ProjectReader,
  model: RawModel | undefined,
): RawMetric["formula"] {
  const name = required(node, "name");
  const spine = (from: SourceNode): void => {
    if (from.get("join_to_timespine").isTrue) {
      reader.note(node, `metric ${name}`, "Periods without rows appear if the query asks for them with `fill`.");
    }
  };
  const measure = given.get("measure");
  const parameters = given.get("metric_aggregation_params");
  spine(given);
  if (!measure.isEmpty) {
    if (!measure.isMap) return { kind: "simple", measure: required(given, "measure"), filters: [] };
    refuseOthers(measure, ["name", "filter", "alias", "fill_nulls_with", "join_to_timespine"]);
    spine(measure);
    return {
      kind: "simple",
      measure: required(measure, "name"),
      filters: readFilters(measure.get("filter")),
      ...missingOf(measure),
    };
  }
  const aggregation = parameters.isEmpty ? given : parameters;
  if (!parameters.isEmpty) {
    refuseOthers(parameters, [
      "semantic_model",
      "agg",
      "agg_params",
      "agg_time_dimension",
      "non_additive_dimension",
      "expr",
    ]);
  }
  const sql = given.textOf("expr") ?? parameters.textOf("expr");
  if (sql === undefined) throw new MetricError("unsupported", "It has neither a measure nor an `expr`.");
  const time = aggregation.textOf("agg_time_dimension") ?? model?.time;
  return {
    kind: "own",
    model: model?.id ?? parameters.textOf("semantic_model"),
    measure: { ...measureOf(aggregation, name, sql, time), ...node.at },
    ...missingOf(given),
  };
}

function missingOf(node: SourceNode): { missing?: string } {
  const text = node.textOf("fill_nulls_with");
  if (text === undefined) return {};
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new MetricError("unsupported", `fill_nulls_with is ${text}.`);
  return { missing: text };
}

function readInput(node: SourceNode, key: string): { input: ImportedInput; alias: string } {
  if (node.isEmpty) throw new MetricError("unsupported", `It has no \`${key}\`.`);
  if (!node.isMap) return { input: { metric: node.text!, filters: [] }, alias: node.text! };
  refuseOthers(node, ["name", "filter", "alias", "offset_window", "offset_to_grain"]);
  if (!node.get("offset_to_grain").isEmpty) {
    throw new MetricError("unsupported", "An offset to the start of a period (offset_to_grain) has no counterpart.");
  }
  const offset = node.get("offset_window");
  const metric = required(node, "name");
  return {
    alias: node.textOf("alias") ?? metric,
    input: {
      metric,
      filters: readFilters(node.get("filter")),
      ...(!offset.isEmpty && { offset: periodText(offset) }),
    },
  };
}

function readCumulative(node: SourceNode, given: SourceNode, reader: ProjectReader): RawMetric["formula"] {
  const name = required(node, "name");
  const inner = given.get("cumulative_type_params");
  refuseOthers(inner, ["window", "grain_to_date", "period_agg", "metric"]);
  const either = (key: string): SourceNode => (inner.get(key).isEmpty ? given.get(key) : inner.get(key));
  const window = either("window");
  const to = either("grain_to_date").text;
  const agg = either("period_agg").text ?? "first";
  if (agg === "average") {
    throw new MetricError("unsupported", "The average over a period (period_agg: average) has no counterpart.");
  }
  if (agg === "first") {
    reader.note(
      node,
      `metric ${name}`,
      "By a period longer than the metric's own, dbt shows the value of its first day (period_agg: first). Tandem shows the value at its end.",
    );
  }
  const measure = given.get("measure");
  const bounds = {
    ...(to !== undefined && { to: to.toLowerCase() }),
    ...(!window.isEmpty && { window: periodText(window) }),
  };
  if (measure.isEmpty) {
    const from = given.get("input_metric").isEmpty ? inner.get("metric") : given.get("input_metric");
    return { kind: "cumulative", input: { metric: readInput(from, "input_metric").input }, ...bounds };
  }
  if (!measure.isMap) return { kind: "cumulative", input: { measure: measure.text!, filters: [] }, ...bounds };
  refuseOthers(measure, ["name", "filter", "alias", "join_to_timespine"]);
  const input = { measure: required(measure, "name"), filters: readFilters(measure.get("filter")) };
  return { kind: "cumulative", input, ...bounds };
}

/** Connects metrics with the models of their measures. */
export function resolveMetrics(
  raw: readonly RawMetric[],
  models: readonly RawModel[],
  reader: ProjectReader,
): ImportedMetric[] {
  const created = models.flatMap(({ metricMeasures }) =>
    metricMeasures
      .filter(({ name }) => !raw.some((metric) => metric.name === name))
      .map(({ name, label, at }): RawMetric => ({
        ...at,
        name,
        about: label === undefined ? {} : { label },
        filters: [],
        formula: { kind: "simple", measure: name, filters: [] },
      })),
  );
  const all = [...raw, ...created];
  const extra: ImportedMetric[] = [];
  const found = all.flatMap((metric) => {
    const resolved = reader.attempt(metric, `metric ${metric.name}`, (): ImportedMetric => {
      const { path, line, name, about, filters } = metric;
      return { path, line, id: name, name, about, filters, formula: resolve(metric) };
    });
    return resolved ?? [];
  });
  return [...extra, ...found];

  function resolve({ path, line, name, formula }: RawMetric): ImportedFormula {
    switch (formula.kind) {
      case "simple": {
        const { measure, filters, missing } = formula;
        return { kind: "simple", entity: ownerOf(measure).id, measure, filters, ...(missing && { missing }) };
      }
      case "own": {
        const owner = models.find(({ id }) => id === formula.model);
        if (!owner) throw new MetricError("unsupported", `Its semantic model ${formula.model ?? ""} was skipped.`);
        owner.measures.push(formula.measure);
        const { missing } = formula;
        return { kind: "simple", entity: owner.id, measure: name, filters: [], ...(missing && { missing }) };
      }
      case "cumulative": {
        const { input, ...bounds } = formula;
        if ("metric" in input) return { ...bounds, input: input.metric };
        const same = all.find(
          (other) =>
            other.formula.kind === "simple" &&
            other.formula.missing === undefined &&
            other.formula.measure === input.measure &&
            isSame([...other.filters, ...other.formula.filters], input.filters),
        );
        if (same) return { ...bounds, input: { metric: same.name, filters: [] } };
        const base = `${name}__base`;
        extra.push({
          path,
          line,
          id: base,
          name: base,
          about: {},
          filters: [],
          formula: {
            kind: "simple",
            entity: ownerOf(input.measure).id,
            measure: input.measure,
            filters: input.filters,
          },
        });
        return { ...bounds, input: { metric: base, filters: [] } };
      }
      default:
        return formula;
    }
  }

  function ownerOf(measure: string): RawModel {
    const owners = models.filter(({ measures }) => measures.some((known) => known.name === measure));
    if (owners.length > 1) {
      throw new MetricError("unsupported", `Several semantic models have a measure ${measure}.`, "Rename one.");
    }
    if (owners[0]) return owners[0];
    throw new MetricError("unsupported", `Its measure ${measure} does not exist or was skipped.`);
  }
}

const isSame = (a: readonly ImportedFilter[], b: readonly ImportedFilter[]): boolean =>
  a.length === b.length && a.every(({ sql }) => b.some((other) => other.sql.trim() === sql.trim()));

/** `7 days`, which the manifest writes as a count and a granularity. */
function periodText(node: SourceNode): string {
  const text = node.isMap ? `${node.textOf("count")} ${node.textOf("granularity")}` : (node.text ?? "");
  const [, count, unit] = /^\s*([1-9]\d{0,3})\s+(minute|hour|day|week|month|quarter|year)s?\s*$/i.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new MetricError("unsupported", `The period \`${text.trim()}\` has no counterpart.`);
  }
  return `${count} ${unit.toLowerCase()}${count === "1" ? "" : "s"}`;
}
