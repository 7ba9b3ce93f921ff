import { MetricError } from "../metric-error.ts";
import type { ImportedDimension, ImportedEntity, ImportedProject, SourceText } from "./imported-project.ts";
import { readJoins } from "./read-ktx-joins.ts";
import { aboutOf, ProjectReader, refuseOthers, required } from "./project-reader.ts";
import type { SourceNode } from "./source-node.ts";

const SOURCE_KEYS = [
  "name",
  "description",
  "descriptions",
  "table",
  "sql",
  "grain",
  "columns",
  "joins",
  "measures",
  "segments",
  "default_time_dimension",
  "column_overrides",
  "exclude_columns",
  "inherits_columns_from",
];

/** Reads KTX sources, and overlays, which have no table of their own. Scanned schemas are left to our own catalogue. */
export function readKtx(texts: readonly SourceText[]): ImportedProject {
  const reader = new ProjectReader();
  const found: { node: SourceNode; entity: ImportedEntity }[] = [];
  for (const root of reader.roots(texts.filter(({ path }) => !path.split("/").includes("_schema")))) {
    if (root.path.endsWith("ktx.yaml")) {
      readProjectFile(root, reader);
      continue;
    }
    if (root.get("name").isEmpty) {
      reader.leaveOut(root, "file", "It is not a semantic source of KTX: it has no name.");
      continue;
    }
    const entity = reader.attempt(root, `source ${root.textOf("name")}`, () => readSourceFile(root, reader));
    if (entity) found.push({ node: root, entity });
  }
  const links = readJoins(found, reader);
  for (const { node, entity } of found) {
    reader.entities.push({ ...entity, links: links.filter(({ from }) => from === entity.id).map(({ link }) => link) });
    readMeasures(node, entity, reader);
  }
  const { entities, metrics, unmapped, notes } = reader;
  return {
    format: "ktx",
    hasFields: true,
    isStandardSql: false,
    entities,
    metrics: withUniqueNames(metrics, reader),
    unmapped,
    notes,
  };
}

/** `ktx.yaml` holds connections and models, which are settings of this product, not definitions. */
function readProjectFile(root: SourceNode, reader: ProjectReader): void {
  for (const key of root.keys) {
    reader.leaveOut(
      root.get(key),
      `ktx.yaml: ${key}`,
      key === "connections" ? "Connections hold secrets and are not imported." : "It is a setting, not a definition.",
      key === "connections" ? "Add them under `connections` of tandem.yaml." : undefined,
    );
  }
}

function readSourceFile(node: SourceNode, reader: ProjectReader): ImportedEntity {
  const id = required(node, "name");
  reader.leaveOutOthers(node, `source ${id}`, SOURCE_KEYS);
  if (!node.get("sql").isEmpty) {
    throw new MetricError("unsupported", "It is a query. Only tables of the catalogue can be entities.");
  }
  if (!node.get("inherits_columns_from").isEmpty) {
    throw new MetricError("unsupported", "It inherits columns from another source.");
  }
  const description = describe(node);
  const grain = node.get("grain").texts;
  const excluded = new Set(node.get("exclude_columns").texts);
  const columns = [...node.get("columns").items, ...node.get("column_overrides").items];
  const time = defaultTime(node, columns);
  return {
    ...node.at,
    id,
    name: id,
    ownNames: [id],
    keys: [],
    relation: (node.textOf("table") ?? id).split(".").map((part) => part.replaceAll(/^["`]|["`]$/g, "")),
    ...(description && { description }),
    ...(grain.length > 0 && { grain }),
    ...(time !== undefined && { time }),
    dimensions: columns.flatMap((column) => {
      const name = column.textOf("name") ?? "";
      if (excluded.has(name)) return [];
      return reader.attempt(column, `column ${id}.${name}`, () => readColumn(column, id, reader)) ?? [];
    }),
    segments: node.get("segments").items.flatMap((segment) => {
      const name = segment.textOf("name") ?? "";
      const read = reader.attempt(segment, `segment ${id}.${name}`, () => {
        refuseOthers(segment, ["name", "expr", "description"]);
        return { ...segment.at, name: required(segment, "name"), sql: required(segment, "expr") };
      });
      return read ?? [];
    }),
    links: [],
    measures: [],
  };
}

/** The only time column, or the one that the source names. */
function defaultTime(node: SourceNode, columns: readonly SourceNode[]): string | undefined {
  const given = node.get("default_time_dimension");
  const named = given.isMap ? given.textOf("dbt") : given.text;
  if (named !== undefined) return named;
  const roles = columns.filter((column) => column.textOf("role") === "time");
  return roles.length === 1 ? roles[0]!.textOf("name") : undefined;
}

function readColumn(node: SourceNode, source: string, reader: ProjectReader): ImportedDimension {
  const name = required(node, "name");
  const item = `column ${source}.${name}`;
  reader.leaveOutOthers(node, item, [
    "name",
    "type",
    "role",
    "visibility",
    "description",
    "descriptions",
    "expr",
    "natural_granularity",
  ]);
  const visibility = node.textOf("visibility") ?? "public";
  if (visibility !== "public") {
    reader.leaveOut(node, item, `It is ${visibility}, so it is no dimension. Measures can use it.`);
  }
  const isTime = node.textOf("role") === "time" || node.textOf("type") === "time";
  return {
    ...node.at,
    ...aboutOf({ description: describe(node) }),
    name,
    sql: node.textOf("expr") ?? quoted(name),
    ...(isTime && { time: node.textOf("natural_granularity") ?? "stored" }),
    ...(visibility !== "public" && { isHidden: true }),
  };
}

const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `"${name}"`);

function describe(node: SourceNode): string | undefined {
  const given = node.get("descriptions");
  return (
    node.textOf("description") ??
    ["user", "ai", "dbt", "db"].map((key) => given.textOf(key)).find((text) => text !== undefined)
  );
}

function readMeasures(node: SourceNode, entity: ImportedEntity, reader: ProjectReader): void {
  for (const item of node.get("measures").items) {
    const name = item.textOf("name") ?? "";
    reader.attempt(item, `measure ${entity.id}.${name}`, () => {
      refuseOthers(item, ["name", "expr", "filter", "segments", "description"]);
      const filter = item.get("filter");
      reader.metrics.push({
        ...item.at,
        id: `${entity.id}.${required(item, "name")}`,
        name: required(item, "name"),
        about: aboutOf({ description: item.textOf("description") }),
        filters: [],
        formula: {
          kind: "aggregates",
          entity: entity.id,
          sql: required(item, "expr"),
          filters: filter.isEmpty ? [] : [{ ...filter.at, sql: required(item, "filter") }],
          segments: item.get("segments").texts,
        },
      });
    });
  }
}

/** Measures belong to sources in KTX; metrics of a connection share one list of names. */
function withUniqueNames(metrics: ProjectReader["metrics"], reader: ProjectReader): ProjectReader["metrics"] {
  return metrics.map((metric) => {
    const isShared = metrics.filter(({ name }) => name === metric.name).length > 1;
    if (!isShared) return metric;
    const name = metric.id.replace(".", "_");
    reader.note(
      metric,
      `metric ${name}`,
      `Several sources have a measure ${metric.name}, so this one is called ${name}.`,
    );
    return { ...metric, name };
  });
}
