import { type LlmConfig, type MessagesProxy, RequestError } from "@tandem/protocol";
import type { BackendEnvironment } from "../create-backend.ts";
import type { Upstream } from "./upstream.ts";

const FIX = "Set llm.provider.backend in tandem.yaml to anthropic (an API key), vertex or gateway.";

/**
 * Passes the Messages API through to the configured backend. Refuses backends without one: a Claude login belongs to Claude
 * Code and is not a key for the API.
 */
export async function createMessagesProxy(
  config: LlmConfig,
  { readSecret }: Pick<BackendEnvironment, "readSecret">,
): Promise<MessagesProxy> {
  const upstream = await upstreamOf(config, readSecret);
  const { passMessages } = await import("./pass-messages.ts");
  return { send: (request) => passMessages(upstream, request, config.limits) };
}

async function upstreamOf(
  { provider, claudeCode }: LlmConfig,
  readSecret: BackendEnvironment["readSecret"],
): Promise<Upstream> {
  switch (provider.backend) {
    case "none":
      throw refusal("no model backend is configured");
    case "claude-code":
      // An API key of Claude Code is one for the API, too.
      if (claudeCode.auth !== "api_key") throw refusal("a Claude login only works in Claude Code");
      return (await load()).anthropicUpstream(await readSecret(claudeCode.apiKey), claudeCode.baseUrl);
    case "anthropic":
      return (await load()).anthropicUpstream(await readSecret(provider.anthropic.apiKey), provider.anthropic.baseUrl);
    case "gateway":
      return (await load()).gatewayUpstream(await readSecret(provider.gateway.apiKey), provider.gateway.baseUrl);
    case "vertex": {
      const { vertexAddress } = await import("../backends/ai-sdk/vertex.ts");
      const { credentials, ...settings } = provider.vertex;
      const { modelsUrl, ...account } = vertexAddress({
        ...settings,
        credentials: credentials && (await readSecret(credentials)),
      });
      return (await load()).vertexUpstream(modelsUrl, account);
    }
  }
}

const load = () => import("./upstream.ts");

const refusal = (why: string): RequestError =>
  new RequestError("invalid_request", `The Messages API is not available here: ${why}.`, {
    fix: `${FIX} Sessions work without it, at /v1/sessions.`,
  });
