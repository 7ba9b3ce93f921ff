import { costOf, dearestCostOf, noUsage, type BudgetUnit, type PassedRequest, type Usage } from "@tandem/protocol";
import { toAmount } from "../budgets/amounts.ts";

/** The units that a call outside of sessions can spend. */
export const UNITS = ["usd", "tokens", "requests"] as const satisfies readonly BudgetUnit[];

export type CallAmounts = Record<(typeof UNITS)[number], number>;

export function amountsOf(model: string, usage: Usage): CallAmounts {
  // The safe assumption for a model without a known price.
  const { usd } = costOf(model, usage) ?? dearestCostOf(usage);
  const { webSearches: _, ...tokens } = usage;
  return {
    usd: toAmount("usd", usd),
    tokens: Object.values(tokens).reduce((sum, count) => sum + count, 0),
    requests: 1,
  };
}

/** Text of most languages has more characters per token. */
const CHARACTERS_PER_TOKEN = 3;
/** Longer strings of `data` are images or documents in base64. */
const MEDIA_CHARACTERS = 2_000;
const MEDIA_TOKENS = 5_000;

/** The most that a request should use: its text at three characters per token, and all of its `max_tokens`. */
export function estimateUsage({ parsed }: PassedRequest): Usage {
  let media = 0;
  const text = JSON.stringify(parsed, (key, value: unknown) => {
    if (key !== "data" || typeof value !== "string" || value.length < MEDIA_CHARACTERS) return value;
    media += 1;
    return "";
  });
  const { max_tokens: most } = parsed;
  return {
    ...noUsage(),
    inputTokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN) + media * MEDIA_TOKENS,
    outputTokens: typeof most === "number" ? most : 0,
  };
}
