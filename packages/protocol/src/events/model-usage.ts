import { z } from "zod";

/** Tokens of one model request, in Anthropic's words. */
export const modelUsage = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  /** Only on requests that ran in fast mode. */
  speed: z.enum(["standard", "fast"]).nullish(),
});
export type ModelUsage = z.infer<typeof modelUsage>;
