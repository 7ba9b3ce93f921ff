import { z } from "zod";

/** Cents, as an integer in a string, so that clients do not round it. */
const money = z
  .strictObject({
    amount: z.string().regex(/^(0|[1-9]\d*)$/, 'expected cents, such as "2500"'),
    currency: z.literal("USD"),
  })
  .meta({ id: "Money" });

export const budget = z.strictObject({ type: z.literal("limit"), max_list_cost: money }).meta({ id: "Budget" });
export type Budget = z.infer<typeof budget>;

export const usageSnapshot = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cache_read_input_tokens: z.int(),
    cache_creation: z.object({ ephemeral_5m_input_tokens: z.int(), ephemeral_1h_input_tokens: z.int() }),
    server_tool_use: z.object({ web_search_requests: z.int() }).optional(),
    list_cost: money,
    active_seconds: z.number(),
  })
  .meta({ id: "Usage" });
export type UsageSnapshot = z.infer<typeof usageSnapshot>;
