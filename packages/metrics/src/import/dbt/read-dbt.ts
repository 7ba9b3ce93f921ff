import type { ImportedEntity, ImportedProject, SourceText } from "../imported-project.ts";
import { ProjectReader } from "../project-reader.ts";
import type { SourceNode } from "../source-node.ts";
import { readLatestModel } from "./read-latest-model.ts";
import { readMetric, type RawMetric, resolveMetrics } from "./read-metrics.ts";
import { linkModels, type RawModel, readSemanticModel } from "./read-semantic-model.ts";

const RELEVANT = /^\s*(- )?(semantic_models?|metrics|saved_queries|alias)\s*:/m;

/** Reads a dbt project: `semantic_manifest.json`, or YAML of the legacy or the latest spec. */
export function readDbt(texts: readonly SourceText[]): ImportedProject {
  const reader = new ProjectReader();
  const manifest = texts.filter(({ path }) => path.endsWith("semantic_manifest.json"));
  const written = texts.filter(({ path, text }) => /\.(ya?ml)$/.test(path) && RELEVANT.test(text));
  const roots = reader.roots(manifest.length > 0 ? manifest : written);
  if (manifest[0] && written.length > 0) {
    const note = "The project was read from its manifest. Run `dbt parse` first if the YAML is newer.";
    reader.note({ path: manifest[0].path, line: 1 }, "project", note);
  }
  const aliases = aliasesOf(roots);
  const models: RawModel[] = [];
  const metrics: RawMetric[] = [];
  for (const root of roots) {
    for (const node of root.get("semantic_models").items) {
      const model = reader.attempt(node, `semantic model ${node.textOf("name") ?? ""}`, () =>
        readSemanticModel(node, reader, aliases),
      );
      if (model) models.push(model);
    }
    for (const node of root.get("models").items) {
      if (node.get("semantic_model").isEmpty) continue;
      const model = reader.attempt(node, `semantic model ${node.textOf("name") ?? ""}`, () =>
        readLatestModel(node, reader),
      );
      if (!model) continue;
      models.push(model);
      for (const metric of node.get("metrics").items) metrics.push(...readMetric(metric, reader, model));
    }
    for (const node of root.get("metrics").items) metrics.push(...readMetric(node, reader));
    for (const node of root.get("saved_queries").items) {
      reader.leaveOut(node, `saved query ${node.textOf("name") ?? ""}`, "A saved query is not a definition.");
    }
  }
  reader.entities.push(...withNames(linkModels(models, reader)));
  reader.metrics.push(...resolveMetrics(metrics, models, reader));
  const { entities, metrics: found, unmapped, notes } = reader;
  return { format: "dbt", hasFields: false, isStandardSql: false, entities, metrics: found, unmapped, notes };
}

/** The names of tables that differ from their models' names. */
function aliasesOf(roots: readonly SourceNode[]): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  for (const root of roots) {
    for (const node of root.get("models").items) {
      const alias = node.get("config").textOf("alias");
      const name = node.textOf("name");
      if (alias !== undefined && name !== undefined) aliases.set(name, alias);
    }
  }
  return aliases;
}

/** Entities get the name of their key, unless several models share it. */
const withNames = (entities: readonly ImportedEntity[]): ImportedEntity[] =>
  entities.map((entity) => {
    const isShared = entities.filter(({ name }) => name === entity.name).length > 1;
    return isShared ? { ...entity, name: entity.id } : entity;
  });
