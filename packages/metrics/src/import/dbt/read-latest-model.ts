import { MetricError } from "../../metric-error.ts";
import { type ProjectReader, required } from "../project-reader.ts";
import type { SourceNode } from "../source-node.ts";
import {
  dimensionOf,
  rawModel,
  type RawModel,
  readDimensions,
  readEntity,
  refuseDisabled,
} from "./read-semantic-model.ts";

/** A model of the latest spec: entities and dimensions are written at its columns. */
export function readLatestModel(node: SourceNode, reader: ProjectReader): RawModel {
  const name = required(node, "name");
  const semantics = node.get("semantic_model");
  if (semantics.isFalse || semantics.get("enabled").isFalse) {
    throw new MetricError("unsupported", "Its semantic model is disabled.");
  }
  refuseDisabled(semantics);
  reader.leaveOutOthers(semantics, `semantic model ${name}`, ["enabled", "name", "config"]);
  const id = semantics.textOf("name") ?? name;
  const columns = node.get("columns").items;
  const derived = node.get("derived_semantics");
  const entities = [
    ...columns.flatMap((column) => {
      const given = column.get("entity");
      return given.isEmpty ? [] : [readEntity(given, reader, required(column, "name"))];
    }),
    ...derived.get("entities").items.map((item) => readEntity(item, reader)),
  ];
  const dimensions = [
    ...columns.flatMap((column) => {
      const given = column.get("dimension");
      if (given.isEmpty) return [];
      const own = required(column, "name");
      const dimension = reader.attempt(given, `dimension ${id}.${own}`, () => columnDimension(column, given, own));
      return dimension ?? [];
    }),
    ...readDimensions(derived.get("dimensions").items, reader, id),
  ];
  const time = node.textOf("agg_time_dimension") ?? semantics.textOf("agg_time_dimension");
  return {
    ...rawModel(node, id, entities, dimensions),
    relation: [node.get("config").textOf("alias") ?? node.textOf("alias") ?? name],
    ...(time !== undefined && { time }),
    measures: [],
    metricMeasures: [],
  };
}

function columnDimension(column: SourceNode, given: SourceNode, name: string) {
  const grain = column.textOf("granularity") ?? given.textOf("granularity");
  // `dimension: time` is short for `dimension: {type: time}`.
  if (!given.isMap) {
    const type = given.text;
    if (type !== "categorical" && type !== "time") throw new MetricError("unsupported", `Its type is ${type}.`);
    return { ...given.at, name, sql: name, ...(type === "time" && { time: grain ?? "day" }) };
  }
  const dimension = dimensionOf(given, given.textOf("name") ?? name, name, grain);
  const description = dimension.description ?? column.textOf("description");
  return { ...dimension, ...(description && { description }) };
}
