import { z } from "zod";

const rates = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite5m: z.number(),
  cacheWrite1h: z.number(),
};

/** The services' responses. Prices and built-in data are added on read, so that they match the program's version. */
const model = z.object({
  id: z.string(),
  name: z.string(),
  aliases: z.array(z.string()).optional(),
  contextWindow: z.number().optional(),
  maxOutputTokens: z.number().optional(),
  features: z.record(z.string(), z.boolean()).optional(),
  efforts: z.array(z.string()).optional(),
  price: z
    .object({ ...rates, longPrompt: z.object({ overTokens: z.number(), rates: z.object(rates) }).optional() })
    .optional(),
  releasedAt: z.string().optional(),
  lifecycle: z.enum(["active", "deprecated", "retired"]).optional(),
  deprecatedAt: z.string().optional(),
  retiresAt: z.string().optional(),
});

export const cacheFile = z.object({
  version: z.literal(1),
  services: z.record(z.string(), z.object({ at: z.iso.datetime(), models: z.array(model) })),
});
