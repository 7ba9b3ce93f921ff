import { MODEL_LINES, RequestError, type ResponseInput, type ListPrice, type ModelFact } from "@tandem/protocol";
import type { Model } from "@tandem/sessions";
import { jsonRoute, type Route } from "../../route.ts";

/** Anthropic's API returns this date for models with unknown release dates. */
const UNKNOWN_DATE = "1970-01-01T00:00:00Z";

export const modelRoutes: Route[] = [
  jsonRoute("models.list", {
    scope: "read",
    at: "worker",
    summary: "List the models that an agent may name",
    handle: async ({ engine, query }) => {
      const all = (await engine.models()).map(describe);
      const { lifecycle } = query;
      return cut(lifecycle ? all.filter((each) => lifecycle.includes(each.lifecycle)) : all, query);
    },
  }),
  jsonRoute("models.retrieve", {
    scope: "read",
    at: "worker",
    summary: "Retrieve a model by its id or an alias",
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

function describe(known: Model): ResponseInput<"models.retrieve"> {
  const { id, name, aliases, features, efforts, price, origins = {} } = known;
  return {
    type: "model",
    id,
    display_name: name,
    created_at: known.releasedAt ?? UNKNOWN_DATE,
    lifecycle: known.lifecycle ?? "active",
    line: MODEL_LINES.find((line) => id.includes(line)) ?? null,
    allowed_fallback_models: null,
    // Anthropic's format requires a value for every capability; the known ones are in `tandem.features`.
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
  input,
  output,
  cache_read: cacheRead,
  cache_write_5m: cacheWrite5m,
  cache_write_1h: cacheWrite1h,
});

const describePrice = (price: ListPrice, asOf: string) => ({
  ...describeRates(price),
  long_prompt: price.longPrompt
    ? { over_tokens: price.longPrompt.overTokens, ...describeRates(price.longPrompt.rates) }
    : null,
  as_of: asOf,
});

/** The older paging style, by ids; `before_id` goes backwards. */
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
