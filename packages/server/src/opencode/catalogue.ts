import { RequestError, type PermissionMode } from "@tandem/protocol";
import type { Engine, Model } from "@tandem/sessions";
import { MODE_NAMES } from "../acp/session-settings.ts";
import { agentOfMode } from "./projection/modes.ts";
import { PROVIDER } from "./projection/provider-id.ts";

const DEFAULT_CONTEXT = 200_000;
const DEFAULT_OUTPUT = 32_000;
/** Models change with Claude Code's version or the login, so seldom. */
const MODELS_MS = 60_000;

interface CatalogueOptions {
  engine: Engine;
  usualMode: PermissionMode;
  /** The model of new sessions, as the config or the agent names it. */
  usualModel: string;
}

/** Models and modes in the words of opencode's API. */
export class Catalogue {
  readonly usualMode: PermissionMode;
  readonly #engine: Engine;
  readonly #usualModel: CatalogueOptions["usualModel"];
  #models: { listed: Promise<Model[]>; at: number } | undefined;

  constructor({ engine, usualMode, usualModel }: CatalogueOptions) {
    this.#engine = engine;
    this.usualMode = usualMode;
    this.#usualModel = usualModel;
  }

  /** The id of a model that may be named by an alias. */
  async modelId(name: string): Promise<string> {
    const models = await this.#list().catch(() => []);
    return models.find(({ id, aliases }) => id === name || aliases.includes(name))?.id ?? name;
  }

  async defaultModel(): Promise<string> {
    return this.modelId(this.#usualModel);
  }

  /** The model that a request names; throws if it is another provider's. */
  async modelOf(model: { providerID: string; modelID: string }): Promise<string> {
    if (model.providerID !== PROVIDER) {
      throw new RequestError("invalid_request", `model: there is no provider ${JSON.stringify(model.providerID)}.`, {
        fix: `All models are those of Claude Code, under the provider ${PROVIDER}.`,
      });
    }
    return this.modelId(model.modelID);
  }

  async provider() {
    const models = await this.#list();
    const usual = await this.defaultModel();
    const listed = models.some(({ id }) => id === usual)
      ? models
      : [{ id: usual, name: usual, aliases: [] }, ...models];
    return {
      id: PROVIDER,
      name: "Claude Code (Tandem)",
      source: "custom" as const,
      env: [],
      options: {},
      models: Object.fromEntries(listed.map((model) => [model.id, modelInfo(model)])),
    };
  }

  /** opencode's agents: the modes, the usual one first. */
  agents(modes: readonly PermissionMode[]) {
    const ordered = [this.usualMode, ...modes.filter((mode) => mode !== this.usualMode)];
    return ordered.map((mode) => ({
      name: agentOfMode(mode),
      description: MODE_NAMES[mode].description,
      mode: "primary" as const,
      native: true,
      permission: [],
      options: {},
    }));
  }

  #list(): Promise<Model[]> {
    const now = performance.now();
    if (!this.#models || now - this.#models.at > MODELS_MS) {
      const listed = this.#engine.models();
      this.#models = { listed, at: now };
      listed.catch(() => (this.#models = undefined));
    }
    return this.#models.listed;
  }
}

function modelInfo({ id, name, contextWindow, maxOutputTokens, features, efforts, price, releasedAt }: Model) {
  const has = (feature: string): boolean => features?.[feature] ?? true;
  return {
    id,
    providerID: PROVIDER,
    api: { id, url: "", npm: "" },
    name,
    capabilities: {
      temperature: false,
      reasoning: has("thinking"),
      attachment: true,
      toolcall: true,
      input: { text: true, audio: false, image: has("image_input"), video: false, pdf: has("pdf_input") },
      output: { text: true, audio: false, image: false, video: false, pdf: false },
      interleaved: true,
    },
    cost: {
      input: price?.input ?? 0,
      output: price?.output ?? 0,
      cache: { read: price?.cacheRead ?? 0, write: price?.cacheWrite5m ?? 0 },
    },
    limit: { context: contextWindow ?? DEFAULT_CONTEXT, output: maxOutputTokens ?? DEFAULT_OUTPUT },
    status: "active" as const,
    options: {},
    headers: {},
    release_date: releasedAt?.slice(0, 10) ?? "",
    variants: Object.fromEntries((efforts ?? []).map((effort) => [effort, {}])),
  };
}
