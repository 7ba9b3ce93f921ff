import { createGoogleVertexAnthropic } from "@ai-sdk/google-vertex/anthropic";
import { type PassedRequest, RequestError } from "@tandem/protocol";
import { withVersion } from "../backends/ai-sdk/provider.ts";
import { resolveAlias } from "../models.ts";

/** A request as one service expects it. */
export interface UpstreamRequest {
  url: string;
  /** Only the credential. */
  headers: Record<string, string>;
  body: Uint8Array;
}

interface GoogleAccount {
  project: string;
  location: string;
  googleAuthOptions?: { credentials: Record<string, unknown> };
}

/** A service that speaks the Messages API. They differ in address, login and model names. */
export interface Upstream {
  /** Must not appear in an answer. */
  secret: string | undefined;
  address(request: PassedRequest): Promise<UpstreamRequest>;
}

export function anthropicUpstream(apiKey: string, baseUrl = "https://api.anthropic.com"): Upstream {
  const base = withVersion(baseUrl);
  return {
    secret: apiKey,
    address: async (request) => ({
      url: messagesUrl(base, request),
      headers: { "x-api-key": apiKey },
      body: withModel(request, resolveAlias("anthropic", request.parsed.model)),
    }),
  };
}

/** The gateway's own protocol is below `/v4/ai`. It serves the Messages API beside it, below `/v1`. */
export function gatewayUpstream(apiKey: string, baseUrl = "https://ai-gateway.vercel.sh/v4/ai"): Upstream {
  const [, origin] = /^(.*)\/v\d+\/ai\/*$/.exec(baseUrl) ?? [];
  if (origin === undefined) {
    throw new RequestError("invalid_request", `It is not known where the gateway at ${baseUrl} has a Messages API.`, {
      fix: "Use a base URL that ends in /v4/ai, or set llm.provider.backend to anthropic with the gateway's address.",
    });
  }
  return {
    secret: apiKey,
    address: async (request) => ({
      url: messagesUrl(`${origin}/v1`, request),
      headers: { authorization: `Bearer ${apiKey}` },
      body: withModel(request, resolveAlias("gateway", request.parsed.model)),
    }),
  };
}

/** Vertex has the model in the path and its own version in the body. Counting keeps the model in the body. */
export function vertexUpstream(modelsUrl: string, account: GoogleAccount): Upstream {
  const authorization = googleAuthorization(account);
  return {
    secret: undefined,
    address: async (request) => {
      const { model: given, ...rest } = request.parsed;
      const model = resolveAlias("vertex", given);
      const isCount = request.operation === "count_tokens";
      if (!/^[\w.@-]+$/.test(model)) throw new RequestError("invalid_request", `Vertex AI has no model "${model}".`);
      const method = isCount
        ? "count-tokens:rawPredict"
        : `${encodeURIComponent(model)}:${request.parsed.stream ? "streamRawPredict" : "rawPredict"}`;
      const body = { anthropic_version: "vertex-2023-10-16", ...rest, ...(isCount && { model }) };
      return {
        url: `${modelsUrl}/${method}`,
        headers: { authorization: await authorization() },
        body: Buffer.from(JSON.stringify(body)),
      };
    },
  };
}

const messagesUrl = (base: string, { operation }: PassedRequest): string =>
  `${base}/messages${operation === "count_tokens" ? "/count_tokens" : ""}`;

/** The caller's bytes, unless its model is an alias. */
const withModel = ({ body, parsed }: PassedRequest, model: string): Uint8Array =>
  model === parsed.model ? body : Buffer.from(JSON.stringify({ ...parsed, model }));

/** Google's library, which caches tokens, is inside the AI SDK. That shows the header only to its `fetch`. */
function googleAuthorization(settings: GoogleAccount): () => Promise<string> {
  let latest: string | null = null;
  const provider = createGoogleVertexAnthropic({
    ...settings,
    fetch: async (_url, init) => {
      latest = new Headers(init?.headers).get("authorization");
      return new Response("{}", { status: 400 });
    },
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "-" }] }];
  return async () => {
    latest = null;
    try {
      await provider.languageModel("none").doGenerate({ prompt });
    } catch (error) {
      if (latest === null) throw error;
    }
    return latest ?? "";
  };
}
