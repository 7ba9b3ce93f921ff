import { tabledModels } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import type { Model } from "@tandem/sessions";
import type { Project } from "../config/load-project.ts";
import type { Variables } from "../config/tandem-home.ts";
import type { Host } from "../host.ts";
import { complete, withDetails } from "./known-models.ts";
import { ModelCache } from "./model-cache.ts";

/** The models that agents may name, asked for now. They run on Claude Code, whatever backend serves single calls. */
export async function askedModels(
  context: Host,
  project: Project,
  list: () => Promise<ModelInfo[]>,
  /** Not where somebody else than the config's credential pays. */
  isOwnCredential: boolean,
): Promise<Model[]> {
  const listed = await list();
  const models = isOwnCredential ? await withDetails(context, onClaudeCode(project), listed) : listed;
  const at = new Date().toISOString();
  if (isOwnCredential) await new ModelCache(context.env, onClaudeCode(project)).write({ at, models });
  return asModels(complete(models, "live", at).models);
}

/** What was said last, or what is written in the program. */
export async function fallbackModels(env: Variables, project: Project): Promise<Model[]> {
  const kept = await new ModelCache(env, onClaudeCode(project)).read();
  return asModels((kept ? complete(kept.models, "cache", kept.at) : complete(tabledModels(), "table")).models);
}

const onClaudeCode = (project: Project): Project => {
  const { llm } = project.config;
  const provider = { ...llm.provider, backend: "claude-code" as const };
  return { ...project, config: { ...project.config, llm: { ...llm, provider } } };
};

const asModels = (models: readonly ModelInfo[]): Model[] =>
  models.map((model) => ({ ...model, aliases: model.aliases ?? [] }));
