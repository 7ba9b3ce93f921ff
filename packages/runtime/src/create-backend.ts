import type { PoolLimit } from "@tandem/claude-code";
import { BACKENDS, type LlmConfig, LlmError, nearest, type SecretReference } from "@tandem/protocol";
import type { Provider } from "./backends/ai-sdk/provider.ts";
import type { LlmBackend } from "./llm-backend.ts";

export interface BackendEnvironment {
  /** Called only for the secret of the chosen backend. */
  readSecret: (reference: SecretReference) => Promise<string>;
  /** Holds the ledger and private state of the claude-code backend; shared by all hosts of this user. */
  stateFolder: string;
  /** Source of a Claude Code process's allowed variables, usually `process.env`. */
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** A limit on Claude Code processes that other runtimes share. */
  processLimit?: PoolLimit;
}

/**
 * Creates the configured backend or throws; never falls back to another. Imports each backend's libraries on demand,
 * because loading them takes longer than most commands run.
 */
export async function createBackend(config: LlmConfig, environment: BackendEnvironment): Promise<LlmBackend> {
  const { provider } = config;
  const { readSecret, stateFolder, hostVariables, processLimit: limit } = environment;
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
      const { credentials: reference, ...settings } = provider.vertex;
      const credentials = reference && (await readSecret(reference));
      const { vertex } = await import("./backends/ai-sdk/vertex.ts");
      return onAiSdk(vertex({ ...settings, credentials }), config);
    }
    case "gateway": {
      const { baseUrl } = provider.gateway;
      const apiKey = await readSecret(provider.gateway.apiKey);
      const { gateway } = await import("./backends/ai-sdk/gateway.ts");
      return onAiSdk(gateway({ apiKey, baseUrl }), config);
    }
    case "claude-code": {
      const { readCredential } = await import("@tandem/claude-code/processes");
      const credential = await readCredential(config.claudeCode, environment);
      const { createClaudeCodeBackend } = await import("./backends/claude-code/create-claude-code-backend.ts");
      return createClaudeCodeBackend(config, { credential, stateFolder, hostVariables, ...(limit && { limit }) });
    }
    default:
      return refuse(provider.backend);
  }
}

async function onAiSdk(provider: Provider, config: LlmConfig): Promise<LlmBackend> {
  const { createAiSdkBackend } = await import("./backends/ai-sdk/create-ai-sdk-backend.ts");
  return createAiSdkBackend(provider, config);
}

/** The config schema rejects such a name, but a host can build its config by hand. */
function refuse(backend: never): never {
  const suggestion = nearest(String(backend), BACKENDS);
  throw new LlmError("not_configured", `There is no LLM backend "${String(backend)}".`, {
    fix: suggestion ? `Did you mean "${suggestion}"?` : `Use one of ${BACKENDS.join(", ")}.`,
  });
}

/** Backend of a project without one: every call fails with `not_configured`. */
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
