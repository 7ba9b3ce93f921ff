import { completeModel, LlmError, MODELS_AS_OF, tabledModels } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import { withAnthropicKey } from "./check-auth.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import { listModels } from "./list-models.ts";
import { FRESH_MS, ModelCache } from "./model-cache.ts";

/** Failures to reach the service. They do not indicate a wrong config. */
const UNANSWERED: ReadonlySet<string> = new Set(["network", "timeout", "overloaded", "server_error"]);

/** Timeout for the additional details from Anthropic's API. */
const DETAILS_MS = 5_000;

export interface KnownModels {
  models: ModelInfo[];
  /** The source of the list and its time. */
  from: "live" | "cache" | "table";
  at: string;
  /** Why no live list was available. */
  problem?: LlmError;
}

/** Lists the backend's models with details: live, cached for a day, or from the built-in table. */
export async function knownModels(
  host: Host,
  project: Project,
  { refresh, deadlineMs }: { refresh: boolean; deadlineMs: number },
): Promise<KnownModels> {
  const cache = new ModelCache(host.env, project);
  const kept = await cache.read();
  if (kept && !refresh && Date.now() - Date.parse(kept.at) < FRESH_MS) return complete(kept.models, "cache", kept.at);
  try {
    const models = await askForModels(host, project, deadlineMs);
    const at = new Date().toISOString();
    await cache.write({ at, models });
    return complete(models, "live", at);
  } catch (problem) {
    if (!(problem instanceof LlmError) || !isUnanswered(problem, project)) throw problem;
    return { ...(kept ? complete(kept.models, "cache", kept.at) : complete(tabledModels(), "table")), problem };
  }
}

const askForModels = async (host: Host, project: Project, deadlineMs: number): Promise<ModelInfo[]> =>
  withDetails(host, project, await listModels(host, project, deadlineMs));

/** Adds details from Anthropic's API if there is a key. */
export async function withDetails(host: Host, project: Project, listed: ModelInfo[]): Promise<ModelInfo[]> {
  const { provider, claudeCode } = project.config.llm;
  if (provider.backend !== "claude-code" || claudeCode.auth !== "api_key") return listed;
  const { mergeModels } = await import("@tandem/runtime");
  // The list of Claude Code is complete without these details, so a failure is ignored.
  const detailed = await listModels(host, withAnthropicKey(project), DETAILS_MS).catch(() => []);
  return mergeModels(listed, detailed);
}

/** Vertex has no endpoint that lists models. */
const isUnanswered = ({ code }: LlmError, { config }: Project): boolean =>
  UNANSWERED.has(code) || (config.llm.provider.backend === "vertex" && code === "invalid_request");

export function complete(models: readonly ModelInfo[], from: KnownModels["from"], asOf?: string): KnownModels {
  const at = asOf ?? MODELS_AS_OF;
  return { from, at, models: models.map((model) => completeModel(model, { from, at })) };
}
