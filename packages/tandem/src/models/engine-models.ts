import { tabledModels } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import type { Model } from "@tandem/sessions";
import type { Project } from "../config/load-project.ts";
import type { Variables } from "../config/tandem-home.ts";
import type { Host } from "../config/host.ts";
import { complete, withDetails } from "./known-models.ts";
import { ModelCache, type KeptModels } from "./model-cache.ts";

/** Lists the models for agents now. Agents run on Claude Code; the backend setting applies to single calls. */
export async function askedModels(
  host: Host,
  project: Project,
  list: () => Promise<ModelInfo[]>,
  /** False if another credential than the configured one pays. */
  isOwnCredential: boolean,
): Promise<Model[]> {
  const listed = await list();
  const models = isOwnCredential ? await withDetails(host, onClaudeCode(project), listed) : listed;
  const at = new Date().toISOString();
  if (isOwnCredential) await keepModels(host.env, project, { at, models });
  return asModels(complete(models, "live", at).models);
}

/** Stores a list for all engines of this home. */
export const keepModels = (env: Variables, project: Project, kept: KeptModels): Promise<void> =>
  new ModelCache(env, onClaudeCode(project)).write(kept);

/** The list that an engine of this home has fetched last, with its time. */
export async function keptModels(
  env: Variables,
  project: Project,
): Promise<{ at: number; models: Model[] } | undefined> {
  const kept = await new ModelCache(env, onClaudeCode(project)).read();
  return kept && { at: Date.parse(kept.at), models: asModels(complete(kept.models, "cache", kept.at).models) };
}

/** The cached list, else the built-in table. */
export async function fallbackModels(env: Variables, project: Project): Promise<Model[]> {
  return (await keptModels(env, project))?.models ?? asModels(complete(tabledModels(), "table").models);
}

const onClaudeCode = (project: Project): Project => {
  const { llm } = project.config;
  const provider = { ...llm.provider, backend: "claude-code" as const };
  return { ...project, config: { ...project.config, llm: { ...llm, provider } } };
};

const asModels = (models: readonly ModelInfo[]): Model[] =>
  models.map((model) => ({ ...model, aliases: model.aliases ?? [] }));
