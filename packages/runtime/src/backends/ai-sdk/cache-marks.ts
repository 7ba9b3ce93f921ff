import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { LlmConfig } from "@tandem/protocol";

type Ttl = "5m" | "1h";

/** Provider options that mark the end of each part of a prompt for the service's cache; undefined marks nothing. */
export interface CacheMarks {
  tools?: SharedV4ProviderOptions;
  system?: SharedV4ProviderOptions;
  history?: SharedV4ProviderOptions;
}

/**
 * A prompt goes over the wire as tools, system, history, and the API refuses a longer time to live after a shorter one:
 * a part that should be kept longer than one before it is kept as long as that one.
 */
export function cacheMarks(
  caching: LlmConfig["promptCaching"],
  { onVertex, hasTools }: { onVertex: boolean; hasTools: boolean },
): CacheMarks {
  if (!caching.enabled) return {};
  const longest: Ttl = onVertex && caching.vertexFallbackTo5m ? "5m" : "1h";
  const tools = shorter(caching.toolsTtl, longest);
  const system = shorter(caching.systemTtl, hasTools ? tools : longest);
  const history = shorter(caching.historyTtl, system);
  return {
    system: mark(system),
    // Without tools there is one request and nobody to read the history from the cache: writing it only costs.
    ...(hasTools && { tools: mark(tools), history: mark(history) }),
  };
}

const shorter = (a: Ttl, b: Ttl): Ttl => (a === "5m" ? a : b);

const mark = (ttl: Ttl): SharedV4ProviderOptions => ({ anthropic: { cacheControl: { type: "ephemeral", ttl } } });
