import { MetricError } from "../../metric-error.ts";
import type { ImportedDimension, ImportedEntity, ImportedLink, ImportedMeasure, Located } from "../imported-project.ts";
import { aboutOf, type ProjectReader, refuseOthers, required } from "../project-reader.ts";
import type { SourceNode } from "../source-node.ts";
import { readAbout } from "./read-about.ts";
import { readMeasure } from "./read-measure.ts";

export interface RawEntity extends Located {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

export interface RawModel extends Omit<ImportedEntity, "links" | "measures"> {
  /** Metrics of the latest spec add their own. */
  readonly measures: ImportedMeasure[];
  readonly entities: readonly RawEntity[];
  /** Measures that also are metrics. */
  readonly metricMeasures: readonly { readonly name: string; readonly label?: string; readonly at: Located }[];
}

const KEYS = [
  "name",
  "model",
  "node_relation",
  "description",
  "defaults",
  "primary_entity",
  "entities",
  "dimensions",
  "measures",
];

/** A semantic model of the legacy spec, or of the manifest. */
export function readSemanticModel(
  node: SourceNode,
  reader: ProjectReader,
  aliases: ReadonlyMap<string, string>,
): RawModel {
  const id = required(node, "name");
  refuseDisabled(node);
  reader.leaveOutOthers(node, `semantic model ${id}`, [...KEYS, "config", "metadata"]);
  const entities = node.get("entities").items.map((item) => readEntity(item, reader));
  const dimensions = readDimensions(node.get("dimensions").items, reader, id);
  const time = node.get("defaults").textOf("agg_time_dimension");
  const measures: ImportedMeasure[] = [];
  const metricMeasures: RawModel["metricMeasures"][number][] = [];
  for (const item of node.get("measures").items) {
    const measure = reader.attempt(item, `measure ${item.textOf("name") ?? ""}`, () => readMeasure(item, time));
    if (!measure) continue;
    measures.push(measure);
    if (item.get("create_metric").isTrue) {
      const label = item.textOf("create_metric_display_name") ?? item.textOf("label");
      metricMeasures.push({ name: measure.name, at: item.at, ...(label && { label }) });
    }
  }
  return {
    ...rawModel(node, id, entities, dimensions),
    relation: relationOf(node, aliases),
    ...(time !== undefined && { time }),
    measures,
    metricMeasures,
  };
}

export function refuseDisabled(node: SourceNode): void {
  if (node.get("config").get("enabled").isFalse) throw new MetricError("unsupported", "It is disabled in the project.");
}

/** The parts of a model that both specs share. */
export function rawModel(
  node: SourceNode,
  id: string,
  entities: readonly RawEntity[],
  dimensions: readonly ImportedDimension[],
): Omit<RawModel, "relation" | "measures" | "metricMeasures"> {
  const primary = entities.filter(({ type }) => type === "primary");
  const named = primary[0]?.name ?? node.textOf("primary_entity");
  const natural = entities.find(({ type }) => type === "natural");
  if (natural) {
    throw new MetricError("unsupported", `Its entity ${natural.name} is natural: rows are valid for ranges of time.`);
  }
  const description = node.textOf("description");
  return {
    ...node.at,
    id,
    // An entity that is only called after its key column says less than its model.
    name: named === undefined || primary.some(({ name, sql }) => name === named && sql === named) ? id : named,
    ownNames: [
      ...(named === undefined ? [] : [named]),
      ...entities.filter(({ type }) => type === "unique").map(({ name }) => name),
    ],
    keys: entities.map(({ name, sql }) => ({ name, sql })),
    ...(description && { description }),
    ...(primary.length > 0 && { grain: primary.map(({ sql }) => sql) }),
    dimensions,
    segments: [],
    entities,
  };
}

function relationOf(node: SourceNode, aliases: ReadonlyMap<string, string>): string[] {
  const relation = node.get("node_relation");
  if (relation.isMap) {
    const schema = relation.textOf("schema_name");
    return [...(schema === undefined ? [] : [schema]), required(relation, "alias")];
  }
  const text = required(node, "model");
  const [, names = ""] = /^\s*(?:\{\{)?\s*ref\s*\(([^)]*)\)\s*(?:\}\})?\s*$/.exec(text) ?? [];
  const name = [...names.matchAll(/['"]([^'"]+)['"]/g)].at(-1)?.[1];
  if (name === undefined) throw new MetricError("unsupported", `Its model \`${text}\` is not a ref().`);
  return [aliases.get(name) ?? name];
}

export function readEntity(node: SourceNode, reader: ProjectReader, column?: string): RawEntity {
  const name = node.textOf("name") ?? column ?? required(node, "name");
  reader.leaveOutOthers(node, `entity ${name}`, ["name", "type", "expr", "metadata", "config", "description", "label"]);
  return { ...node.at, name, type: required(node, "type"), sql: column ?? node.textOf("expr") ?? name };
}

export const readDimensions = (
  items: readonly SourceNode[],
  reader: ProjectReader,
  model: string,
): ImportedDimension[] =>
  items.flatMap((item) => {
    const name = item.textOf("name") ?? "";
    return reader.attempt(item, `dimension ${model}.${name}`, () => readDimension(item, reader)) ?? [];
  });

function readDimension(node: SourceNode, reader: ProjectReader): ImportedDimension {
  const name = required(node, "name");
  const parameters = node.get("type_params");
  refuseOthers(parameters, ["time_granularity", "validity_params"]);
  reader.leaveOutOthers(node, `dimension ${name}`, [
    "name",
    "type",
    "expr",
    "description",
    "label",
    "type_params",
    "config",
    "metadata",
    "is_partition",
    "granularity",
    "validity_params",
  ]);
  const grain = parameters.textOf("time_granularity") ?? node.textOf("granularity");
  return dimensionOf(node, name, node.textOf("expr") ?? name, grain);
}

export function dimensionOf(node: SourceNode, name: string, sql: string, grain: string | undefined): ImportedDimension {
  if (node.get("is_partition").isTrue) {
    throw new MetricError("unsupported", "It is a partition that joins depend on, and the catalogue's joins do not.");
  }
  if (!node.get("validity_params").isEmpty || !node.get("type_params").get("validity_params").isEmpty) {
    throw new MetricError("unsupported", "It bounds the time in which a row is valid, which joins cannot use.");
  }
  const type = required(node, "type");
  if (type !== "categorical" && type !== "time") throw new MetricError("unsupported", `Its type is ${type}.`);
  const { label, description, aka } = readAbout(node);
  return {
    ...node.at,
    ...aboutOf({ label, description, aka }),
    name,
    sql,
    ...(type === "time" && { time: grain ?? "day" }),
  };
}

/** Pairs foreign entities with the models that have them as a key. */
export function linkModels(models: readonly RawModel[], reader: ProjectReader): ImportedEntity[] {
  return models.map(({ entities, ...model }) => {
    const links = entities
      .filter(({ type }) => type === "foreign")
      .flatMap((foreign): ImportedLink[] => {
        const targets = models.flatMap((other) =>
          other.entities
            .filter(({ name, type }) => name === foreign.name && (type === "primary" || type === "unique"))
            .map((key) => ({ other, key })),
        );
        if (targets.length === 0) {
          reader.leaveOut(foreign, `entity ${model.id}.${foreign.name}`, "No semantic model has it as its key.");
        }
        return targets.map(({ other, key }) => ({
          path: foreign.path,
          line: foreign.line,
          name: foreign.name,
          columns: [foreign.sql],
          to: other.id,
          toColumns: [key.sql],
        }));
      });
    return { ...model, links };
  });
}
