import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { LlmConfig } from "@tandem/protocol";

type Ttl = "5m" | "1h";

/** Provider options that mark the end of each prompt section for the service's cache; undefined: no mark. */
export interface CacheMarks {
  tools?: SharedV4ProviderOptions;
  system?: SharedV4ProviderOptions;
  history?: SharedV4ProviderOptions;
}

/**
 * A prompt is sent as tools, system, history. The API rejects a longer TTL after a shorter one, so each section's TTL
 * is capped by the sections before it.
 */
export function cacheMarks(
  caching: LlmConfig["promptCaching"],
  { onVertex, hasTools }: { onVertex: boolean; hasTools: boolean },
): CacheMarks {
  if (!caching.enabled) return {};
  let longest: Ttl = onVertex && caching.vertexFallbackTo5m ? "5m" : "1h";
  const section = (isCached: boolean, ttl: Ttl): SharedV4ProviderOptions | undefined => {
    if (!isCached) return undefined;
    longest = shorter(ttl, longest);
    return mark(longest);
  };
  // In the order of the prompt. Without tools there is only one request, so a cached history would never be read; writing
  // it only costs.
  const tools = section(hasTools && caching.cacheTools, caching.toolsTtl);
  const system = section(caching.cacheSystem, caching.systemTtl);
  const history = section(hasTools && caching.cacheHistory, caching.historyTtl);
  return { ...(tools && { tools }), ...(system && { system }), ...(history && { history }) };
}

const shorter = (a: Ttl, b: Ttl): Ttl => (a === "5m" ? a : b);

const mark = (ttl: Ttl): SharedV4ProviderOptions => ({ anthropic: { cacheControl: { type: "ephemeral", ttl } } });
