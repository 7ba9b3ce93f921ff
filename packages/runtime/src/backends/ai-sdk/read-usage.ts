import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "@tandem/protocol";
import { z } from "zod";

/** The part of Anthropic's usage that the AI SDK passes on only as it came. */
const rawUsage = z.object({
  cache_creation: z.object({ ephemeral_1h_input_tokens: z.number().nullish() }).nullish().catch(undefined),
  server_tool_use: z.object({ web_search_requests: z.number().nullish() }).nullish().catch(undefined),
});

export function readUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const details = rawUsage.safeParse(raw).data;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const cacheWrite1hTokens = Math.min(cacheWrite, details?.cache_creation?.ephemeral_1h_input_tokens ?? 0);
  const cacheReadTokens = inputTokens.cacheRead ?? 0;
  return {
    inputTokens: inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheReadTokens - cacheWrite),
    outputTokens: outputTokens.total ?? 0,
    cacheReadTokens,
    cacheWrite5mTokens: cacheWrite - cacheWrite1hTokens,
    cacheWrite1hTokens,
    webSearches: details?.server_tool_use?.web_search_requests ?? 0,
  };
}
