import { MetricError } from "../../metric-error.ts";
import type { ImportedMeasure } from "../imported-project.ts";
import { refuseOthers, required } from "../project-reader.ts";
import { readAbout } from "./read-about.ts";
import type { SourceNode } from "../source-node.ts";
import type { Aggregate } from "../../sql/sql.ts";

const AGGREGATES: Record<string, Aggregate> = {
  sum: "sum",
  sum_boolean: "sum",
  min: "min",
  max: "max",
  average: "average",
  avg: "average",
  median: "median",
  count: "count",
  count_distinct: "count_distinct",
};

/** A measure of the legacy spec. */
export function readMeasure(node: SourceNode, defaultTime: string | undefined): ImportedMeasure {
  const name = required(node, "name");
  refuseOthers(node, [
    "name",
    "agg",
    "expr",
    "description",
    "label",
    "create_metric",
    "create_metric_display_name",
    "agg_time_dimension",
    "agg_params",
    "non_additive_dimension",
    "config",
    "metadata",
  ]);
  return measureOf(node, name, node.textOf("expr") ?? name, node.textOf("agg_time_dimension") ?? defaultTime);
}

/** The aggregation, which the specs write alike. */
export function measureOf(node: SourceNode, name: string, sql: string, time: string | undefined): ImportedMeasure {
  const agg = required(node, "agg").toLowerCase();
  const aggregate = agg === "percentile" ? percentile(node) : AGGREGATES[agg];
  if (!aggregate) throw new MetricError("unsupported", `Its aggregation ${agg} has no counterpart.`);
  const isRows = agg === "count" && /^(\*|\d+|'.*')$/.test(sql.trim());
  const over = nonAdditive(node.get("non_additive_dimension"), time);
  const { description, unit } = readAbout(node);
  return {
    ...node.at,
    name,
    aggregate,
    ...(!isRows && { sql }),
    ...(agg === "sum_boolean" && { isSumOfBoolean: true }),
    ...(time !== undefined && { time }),
    ...(over && { over }),
    ...(description && { description }),
    ...(unit && { unit }),
  };
}

/** Only the exact median of interpolated values has a counterpart. */
function percentile(node: SourceNode): Aggregate {
  const parameters = node.get("agg_params");
  refuseOthers(parameters, ["percentile", "use_discrete_percentile", "use_approximate_percentile"]);
  const share = Number(parameters.textOf("percentile") ?? node.textOf("percentile"));
  const isExact =
    !parameters.get("use_discrete_percentile").isTrue &&
    !parameters.get("use_approximate_percentile").isTrue &&
    (node.textOf("percentile_type") ?? "continuous") === "continuous";
  if (share === 0.5 && isExact) return "median";
  throw new MetricError("unsupported", "Of percentiles, only the exact continuous median has a counterpart.");
}

function nonAdditive(node: SourceNode, time: string | undefined): ImportedMeasure["over"] | undefined {
  if (node.isEmpty) return undefined;
  refuseOthers(node, ["name", "window_choice", "window_agg", "window_groupings", "group_by"]);
  const name = required(node, "name");
  if (name !== time) {
    throw new MetricError("unsupported", `It is not additive over ${name}, and its time is ${time ?? "not given"}.`);
  }
  const choice = node.textOf("window_choice") ?? node.textOf("window_agg") ?? "min";
  if (choice !== "min" && choice !== "max") throw new MetricError("unsupported", `Its window is ${choice}.`);
  const per = node.get(node.keys.includes("group_by") ? "group_by" : "window_groupings").texts;
  return { time: choice === "max" ? "last" : "first", per };
}
