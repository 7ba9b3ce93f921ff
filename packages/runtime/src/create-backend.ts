import { BACKENDS, type LlmConfig, LlmError, nearest, type SecretReference } from "@tandem/protocol";
import type { Provider } from "./backends/ai-sdk/provider.ts";
import type { LlmBackend } from "./llm-backend.ts";

export interface BackendSurroundings {
  /** Reads a secret; asked only for the one that the chosen backend needs. */
  readSecret: (reference: SecretReference) => Promise<string>;
  /** Where the claude-code backend keeps its ledger and private state; shared by all hosts of this user. */
  stateFolder: string;
  /** Where a Claude Code process gets its few allowed variables from, as a rule `process.env`. */
  hostVariables: Readonly<Record<string, string | undefined>>;
}

/**
 * The backend that the config names, or an error: never another one instead. Each backend's libraries are loaded only
 * where it is chosen; they take longer to load than most commands to run.
 */
export async function createBackend(config: LlmConfig, surroundings: BackendSurroundings): Promise<LlmBackend> {
  const { provider } = config;
  const { readSecret, stateFolder, hostVariables } = surroundings;
  switch (provider.backend) {
    case "none":
      return createNoneBackend();
    case "anthropic": {
      const { baseUrl } = provider.anthropic;
      const apiKey = await readSecret(provider.anthropic.apiKey);
      const { anthropic } = await import("./backends/ai-sdk/anthropic.ts");
      return onAiSdk(anthropic({ apiKey, baseUrl }), config);
    }
    case "vertex": {
      const { project, location, baseUrl, credentials: reference } = provider.vertex;
      const credentials = reference && (await readSecret(reference));
      const { vertex } = await import("./backends/ai-sdk/vertex.ts");
      return onAiSdk(vertex({ project, location, baseUrl, credentials }), config);
    }
    case "gateway": {
      const { baseUrl } = provider.gateway;
      const apiKey = await readSecret(provider.gateway.apiKey);
      const { gateway } = await import("./backends/ai-sdk/gateway.ts");
      return onAiSdk(gateway({ apiKey, baseUrl }), config);
    }
    case "claude-code": {
      const { readCredential } = await import("@tandem/claude-code");
      const credential = await readCredential(config.claudeCode, surroundings);
      const { createClaudeCodeBackend } = await import("./backends/claude-code/create-claude-code-backend.ts");
      return createClaudeCodeBackend(config, { credential, stateFolder, hostVariables });
    }
    default:
      return refuse(provider.backend);
  }
}

async function onAiSdk(provider: Provider, config: LlmConfig): Promise<LlmBackend> {
  const { createAiSdkBackend } = await import("./backends/ai-sdk/create-ai-sdk-backend.ts");
  return createAiSdkBackend(provider, config);
}

/** The config's schema keeps such a name out; a host that builds its config by hand has no such guard. */
function refuse(backend: never): never {
  const suggestion = nearest(String(backend), BACKENDS);
  throw new LlmError("not_configured", `There is no LLM backend "${String(backend)}".`, {
    fix: suggestion ? `Did you mean "${suggestion}"?` : `Use one of ${BACKENDS.join(", ")}.`,
  });
}

/** The backend of a project that names none: every call fails with `not_configured`. */
export function createNoneBackend(): LlmBackend {
  const fail = async (): Promise<never> => {
    throw new LlmError("not_configured", "This needs a language model, and no LLM backend is configured.");
  };
  return {
    name: "none",
    payer: "nobody",
    text: fail,
    object: fail,
    loop: fail,
    listModels: fail,
    close: async () => undefined,
  };
}
