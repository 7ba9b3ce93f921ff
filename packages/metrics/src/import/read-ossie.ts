import { MetricError } from "../metric-error.ts";
import type {
  ImportedDimension,
  ImportedEntity,
  ImportedLink,
  ImportedProject,
  SourceText,
} from "./imported-project.ts";
import { aboutOf, ProjectReader, refuseOthers, required } from "./project-reader.ts";
import type { SourceNode } from "./source-node.ts";

/** Reads Apache Ossie models, 0.2.0.dev0. */
export function readOssie(texts: readonly SourceText[]): ImportedProject {
  const reader = new ProjectReader();
  for (const root of reader.roots(texts)) {
    // Newer documents are one model themselves.
    const models = root.get("semantic_model").isEmpty ? [root] : root.get("semantic_model").items;
    for (const model of models) if (!model.get("datasets").isEmpty) readModel(model, reader);
  }
  const { entities, metrics, unmapped, notes } = reader;
  return { format: "ossie", hasFields: true, isStandardSql: true, entities, metrics, unmapped, notes };
}

function readModel(model: SourceNode, reader: ProjectReader): void {
  const name = model.textOf("name") ?? "";
  reader.leaveOutOthers(model, `model ${name}`, [
    "version",
    "name",
    "semantic_model",
    "description",
    "datasets",
    "relationships",
    "metrics",
  ]);
  const relationships = model.get("relationships").items;
  for (const node of model.get("datasets").items) {
    const entity = reader.attempt(node, `dataset ${node.textOf("name") ?? ""}`, () =>
      readDataset(node, relationships, reader),
    );
    if (entity) reader.entities.push(entity);
  }
  for (const node of model.get("metrics").items) {
    reader.attempt(node, `metric ${node.textOf("name") ?? ""}`, () => {
      refuseOthers(node, ["name", "expression", "description", "datatype", "ai_context", "custom_extensions"]);
      const own = required(node, "name");
      leaveOutExtensions(node, `metric ${own}`, reader);
      const about = aboutOf({
        description: node.textOf("description"),
        aka: synonymsOf(node, `metric ${own}`, reader),
      });
      const sql = expressionOf(node);
      reader.metrics.push({
        ...node.at,
        id: own,
        name: own,
        about,
        filters: [],
        formula: { kind: "aggregates", sql, filters: [], segments: [] },
      });
    });
  }
}

function readDataset(node: SourceNode, relationships: readonly SourceNode[], reader: ProjectReader): ImportedEntity {
  const id = required(node, "name");
  reader.leaveOutOthers(node, `dataset ${id}`, [
    "name",
    "source",
    "description",
    "primary_key",
    "unique_keys",
    "fields",
    "custom_extensions",
  ]);
  leaveOutExtensions(node, `dataset ${id}`, reader);
  const source = required(node, "source");
  if (/\s/.test(source.trim())) {
    throw new MetricError("unsupported", "Its source is a query. Only tables of the catalogue can be entities.");
  }
  const description = node.textOf("description");
  const grain = node.get("primary_key").texts;
  return {
    ...node.at,
    id,
    name: id,
    ownNames: [id],
    keys: [],
    relation: source
      .trim()
      .split(".")
      .map((part) => part.replaceAll(/^["`]|["`]$/g, "")),
    ...(description && { description }),
    ...(grain.length > 0 && { grain }),
    dimensions: node.get("fields").items.flatMap((field) => {
      const item = `field ${id}.${field.textOf("name") ?? ""}`;
      return reader.attempt(field, item, () => readField(field, item, reader)) ?? [];
    }),
    segments: [],
    links: relationships
      .filter((relationship) => relationship.textOf("from") === id)
      .flatMap((relationship) => {
        const item = `relationship ${relationship.textOf("name") ?? ""}`;
        return reader.attempt(relationship, item, () => readRelationship(relationship, item, reader)) ?? [];
      }),
    measures: [],
  };
}

function readField(node: SourceNode, item: string, reader: ProjectReader): ImportedDimension {
  refuseOthers(node, [
    "name",
    "expression",
    "dimension",
    "label",
    "description",
    "datatype",
    "ai_context",
    "custom_extensions",
  ]);
  leaveOutExtensions(node, item, reader);
  const isTime = node.get("dimension").get("is_time").isTrue;
  return {
    ...node.at,
    ...aboutOf({
      label: node.textOf("label"),
      description: node.textOf("description"),
      aka: synonymsOf(node, item, reader),
    }),
    name: required(node, "name"),
    sql: expressionOf(node),
    ...(isTime && { time: "stored" }),
    // A field without `dimension` is there for metrics.
    ...(node.get("dimension").isNull && { isHidden: true }),
  };
}

function readRelationship(node: SourceNode, item: string, reader: ProjectReader): ImportedLink {
  refuseOthers(node, ["name", "from", "to", "from_columns", "to_columns", "ai_context", "custom_extensions"]);
  leaveOutExtensions(node, item, reader);
  const to = required(node, "to");
  const name = node.textOf("name") ?? to;
  const prefix = `${required(node, "from")}_`;
  return {
    ...node.at,
    name: name.startsWith(prefix) ? name.slice(prefix.length) : name,
    columns: node.get("from_columns").texts,
    to,
    toColumns: node.get("to_columns").texts,
  };
}

/** Standard SQL; the other dialects belong to other databases. */
function expressionOf(node: SourceNode): string {
  const dialects = node.get("expression").get("dialects").items;
  const standard = dialects.find((item) => item.textOf("dialect") === "ANSI_SQL");
  if (standard) return required(standard, "expression");
  const known = dialects.map((item) => item.textOf("dialect")).join(", ");
  throw new MetricError("unsupported", `It has no ANSI_SQL expression, only ${known || "none"}.`);
}

function synonymsOf(node: SourceNode, item: string, reader: ProjectReader): string[] {
  const context = node.get("ai_context");
  if (context.isEmpty) return [];
  if (!context.isMap) {
    reader.leaveOut(context, `${item}: ai_context`, "Put such text on a wiki page.");
    return [];
  }
  reader.leaveOutOthers(context, `${item}: ai_context`, ["synonyms"]);
  return context.get("synonyms").texts;
}

function leaveOutExtensions(node: SourceNode, item: string, reader: ProjectReader): void {
  const extensions = node.get("custom_extensions");
  if (!extensions.isEmpty) {
    reader.leaveOut(extensions, `${item}: custom_extensions`, "Extensions of other products have no counterpart.");
  }
}
