import { RequestError, type ListPrice, type ModelFact } from "@tandem/protocol";
import type { Model } from "@tandem/sessions";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { DEFAULT_LIMIT } from "../schemas/page.ts";

const LINES = ["haiku", "sonnet", "opus", "fable", "mythos"] as const;
const LIFECYCLES = ["active", "deprecated", "retired"] as const;
const rates = {
  ...{ input: z.number(), output: z.number(), cache_read: z.number() },
  ...{ cache_write_5m: z.number(), cache_write_1h: z.number() },
};
/** What Anthropic's API says where it does not know when a model came out. */
const UNKNOWN_DATE = "1970-01-01T00:00:00Z";

const model = z
  .object({
    type: z.literal("model"),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    lifecycle: z.enum(LIFECYCLES),
    line: z.enum(LINES).nullable(),
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
  .meta({ id: "Model", description: "A model that an agent may name. What nobody knows is null." });

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_LIMIT),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  lifecycle: z.array(z.enum(LIFECYCLES)).optional(),
});

export const modelRoutes: Route[] = [
  jsonRoute({
    name: "models.list",
    method: "GET",
    path: "/v1/models",
    scope: "read",
    at: "worker",
    summary: "List the models that an agent may name",
    query: listQuery,
    response: z.object({
      data: z.array(model),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
    handle: async ({ engine, query }) => {
      const all = (await engine.models()).map(describe);
      const { lifecycle } = query;
      return cut(lifecycle ? all.filter((each) => lifecycle.includes(each.lifecycle)) : all, query);
    },
  }),
  jsonRoute({
    name: "models.retrieve",
    method: "GET",
    path: "/v1/models/:model_id",
    scope: "read",
    at: "worker",
    summary: "Retrieve a model by its id or an alias",
    response: model,
    handle: async ({ engine, params }) => {
      const all = await engine.models();
      const found = all.find(({ id, aliases }) => id === params.model_id || aliases.includes(params.model_id));
      if (found) return describe(found);
      throw new RequestError("not_found", `There is no model ${params.model_id}.`, {
        fix: `Known models: ${all.map(({ id }) => id).join(", ")}.`,
      });
    },
  }),
];

function describe(known: Model): z.infer<typeof model> {
  const { id, name, aliases, features, efforts, price, origins = {} } = known;
  return {
    type: "model",
    id,
    display_name: name,
    created_at: known.releasedAt ?? UNKNOWN_DATE,
    lifecycle: known.lifecycle ?? "active",
    line: LINES.find((line) => id.includes(line)) ?? null,
    allowed_fallback_models: null,
    // Anthropic's shape says of every capability whether it is there; what is known is in `tandem.features`.
    capabilities: null,
    deprecated_at: known.deprecatedAt ?? null,
    retires_at: known.retiresAt ?? null,
    max_input_tokens: known.contextWindow ?? null,
    max_tokens: known.maxOutputTokens ?? null,
    tandem: {
      aliases: [...aliases],
      features: features ? { ...features } : null,
      efforts: efforts ? [...efforts] : null,
      price: price ? describePrice(price, origins.price?.at ?? "") : null,
      origins: Object.fromEntries(
        Object.entries(origins).map(([fact, origin]) => [FACT_NAMES[fact as ModelFact], origin]),
      ),
    },
  };
}

const FACT_NAMES: Record<ModelFact, string> = {
  contextWindow: "max_input_tokens",
  maxOutputTokens: "max_tokens",
  features: "features",
  efforts: "efforts",
  price: "price",
  releasedAt: "created_at",
  lifecycle: "lifecycle",
};

const describeRates = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: Omit<ListPrice, "longPrompt">) => ({
  ...{ input, output, cache_read: cacheRead, cache_write_5m: cacheWrite5m, cache_write_1h: cacheWrite1h },
});

const describePrice = (price: ListPrice, asOf: string) => ({
  ...describeRates(price),
  long_prompt: price.longPrompt
    ? { over_tokens: price.longPrompt.overTokens, ...describeRates(price.longPrompt.rates) }
    : null,
  as_of: asOf,
});

/** The older kind of page, by ids; `before_id` goes backwards. */
function cut<T extends { id: string }>(
  all: readonly T[],
  { limit, after_id: after, before_id: before }: { limit: number; after_id?: string; before_id?: string },
) {
  const at = (id: string): number => {
    const index = all.findIndex((entry) => entry.id === id);
    if (index === -1) throw new RequestError("invalid_request", `after_id or before_id: there is no model ${id}.`);
    return index;
  };
  const end = before === undefined ? all.length : at(before);
  const start = after === undefined ? 0 : at(after) + 1;
  const data = before === undefined ? all.slice(start, start + limit) : all.slice(Math.max(start, end - limit), end);
  const hasMore = before === undefined ? start + limit < all.length : end - limit > start;
  return { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
