import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "@tandem/protocol";
import { z } from "zod";

/** First event of an answer in Anthropic's format. */
const messageStart = z.object({
  type: z.literal("message_start"),
  message: z.object({
    usage: z.looseObject({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cache_read_input_tokens: z.number().nullish(),
      cache_creation_input_tokens: z.number().nullish(),
    }),
  }),
});

/** Usage in the first event of an answer; undefined for other events. */
export function readFirstUsage(event: unknown): Usage | undefined {
  const raw = messageStart.safeParse(event).data?.message.usage;
  if (!raw) return undefined;
  const cacheRead = raw.cache_read_input_tokens ?? 0;
  const cacheWrite = raw.cache_creation_input_tokens ?? 0;
  const inputTokens = { total: undefined, noCache: raw.input_tokens, cacheRead, cacheWrite };
  const outputTokens = { total: raw.output_tokens, text: undefined, reasoning: undefined };
  return readUsage({ inputTokens, outputTokens, raw });
}

/** Fields of Anthropic's usage that the AI SDK only passes on raw. */
const rawUsage = z.object({
  cache_creation: z.object({ ephemeral_1h_input_tokens: z.number().nullish() }).nullish().catch(undefined),
  server_tool_use: z.object({ web_search_requests: z.number().nullish() }).nullish().catch(undefined),
});

type ToldUsage = Pick<LanguageModelV4Usage, "inputTokens" | "outputTokens"> & { raw?: unknown };

export function readUsage({ inputTokens, outputTokens, raw }: ToldUsage): Usage {
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
