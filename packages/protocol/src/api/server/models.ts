import { z } from "zod";
import { DEFAULT_LIMIT, count } from "../page.ts";

export const MODEL_LINES = ["haiku", "sonnet", "opus", "fable", "mythos"] as const;

const LIFECYCLES = ["active", "deprecated", "retired"] as const;

const rates = {
  input: z.number(),
  output: z.number(),
  cache_read: z.number(),
  cache_write_5m: z.number(),
  cache_write_1h: z.number(),
};

const model = z
  .object({
    type: z.literal("model"),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    lifecycle: z.enum(LIFECYCLES),
    line: z.enum(MODEL_LINES).nullable(),
    allowed_fallback_models: z.null(),
    capabilities: z.null(),
    deprecated_at: z.string().nullable(),
    retires_at: z.string().nullable(),
    max_input_tokens: z.number().nullable(),
    max_tokens: z.number().nullable(),
    tandem: z.object({
      aliases: z.array(z.string()),
      features: z.record(z.string(), z.boolean()).nullable(),
      efforts: z.array(z.string()).nullable(),
      price: z
        .object({
          ...rates,
          long_prompt: z.object({ over_tokens: z.number(), ...rates }).nullable(),
          as_of: z.string(),
        })
        .nullable()
        .meta({ description: "List price, in US dollars per million tokens." }),
      origins: z
        .record(z.string(), z.object({ from: z.enum(["live", "cache", "table"]), at: z.string() }))
        .meta({ description: "Where each value comes from: asked, asked earlier, or written in the program." }),
    }),
  })
  .meta({ id: "Model", description: "A model that an agent may name. Unknown values are null." });

const listQuery = z.strictObject({
  limit: count().min(1).max(1_000).default(DEFAULT_LIMIT),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  lifecycle: z.array(z.enum(LIFECYCLES)).optional(),
});

export const modelsApi = {
  "models.list": {
    query: listQuery,
    response: z.object({
      data: z.array(model),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
  },
  "models.retrieve": { response: model },
};
