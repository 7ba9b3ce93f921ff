import { z } from "zod";
import type { TurnEnd } from "../conversation.ts";

export type Reported = TurnEnd["reported"];

const totals = z.record(
  z.string(),
  z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadInputTokens: z.number(),
    cacheCreationInputTokens: z.number(),
    costUSD: z.number(),
    contextWindow: z.number().optional(),
  }),
);

/** Claude Code's cumulative totals by model, from results and transcripts. */
export const readTotals = (modelUsage: unknown, isFree = false): Reported =>
  Object.fromEntries(
    Object.entries(totals.safeParse(modelUsage).data ?? {}).map(([model, used]) => [
      model,
      {
        input_tokens: used.inputTokens,
        output_tokens: used.outputTokens,
        cache_read_input_tokens: used.cacheReadInputTokens,
        cache_creation_input_tokens: used.cacheCreationInputTokens,
        usd: isFree ? 0 : used.costUSD,
        ...(used.contextWindow && { contextWindow: used.contextWindow }),
      },
    ]),
  );

const FIELDS = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const;

/** Difference of two totals; unused models are omitted. */
export function usedSince(now: Reported, before: Reported): Reported {
  const used: Reported = {};
  for (const [model, total] of Object.entries(now)) {
    const old = before[model];
    const rest = { ...total, usd: total.usd - (old?.usd ?? 0) };
    for (const field of FIELDS) rest[field] -= old?.[field] ?? 0;
    if (FIELDS.some((field) => rest[field] > 0)) used[model] = rest;
  }
  return used;
}
