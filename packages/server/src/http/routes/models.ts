import { RequestError } from "@tandem/protocol";
import type { Model } from "@tandem/sessions";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { DEFAULT_LIMIT } from "../schemas/page.ts";

const LINES = ["haiku", "sonnet", "opus", "fable", "mythos"] as const;
/** What Anthropic's API says where it does not know when a model came out. */
const UNKNOWN_DATE = "1970-01-01T00:00:00Z";

const model = z
  .object({
    type: z.literal("model"),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    lifecycle: z.literal("active"),
    line: z.enum(LINES).nullable(),
    allowed_fallback_models: z.null(),
    capabilities: z.null(),
    deprecated_at: z.null(),
    retires_at: z.null(),
    max_input_tokens: z.null(),
    max_tokens: z.null(),
    tandem: z.object({ aliases: z.array(z.string()) }),
  })
  .meta({ id: "Model", description: "A model that an agent may name. What Claude Code does not tell is null." });

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_LIMIT),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  lifecycle: z.array(z.enum(["active", "deprecated", "retired"])).optional(),
});

export const modelRoutes: Route[] = [
  jsonRoute({
    name: "models.list",
    method: "GET",
    path: "/v1/models",
    scope: "read",
    summary: "List the models that an agent may name",
    query: listQuery,
    response: z.object({
      data: z.array(model),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
    handle: async ({ engine, query }) => {
      const wanted = !query.lifecycle || query.lifecycle.includes("active");
      const all = wanted ? (await engine.models()).map(describe) : [];
      return cut(all, query);
    },
  }),
  jsonRoute({
    name: "models.retrieve",
    method: "GET",
    path: "/v1/models/:model_id",
    scope: "read",
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

function describe({ id, name, aliases }: Model): z.infer<typeof model> {
  return {
    type: "model",
    id,
    display_name: name,
    created_at: UNKNOWN_DATE,
    lifecycle: "active",
    line: LINES.find((line) => id.includes(line)) ?? null,
    allowed_fallback_models: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: null,
    max_tokens: null,
    tandem: { aliases: [...aliases] },
  };
}

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
