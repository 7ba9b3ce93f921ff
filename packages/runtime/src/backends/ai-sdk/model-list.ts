import { z } from "zod";
import type { ModelInfo } from "../../llm-backend.ts";

const supported = z.looseObject({ supported: z.boolean() });

/** The service's placeholder for an unknown release date. */
const UNKNOWN_DATE = /^1970-/;

// Compatible services may provide less than Anthropic: everything except the id is optional.
const listed = z.object({
  id: z.string(),
  display_name: z.string().optional(),
  created_at: z.string().nullish(),
  lifecycle: z.enum(["active", "deprecated", "retired"]).nullish().catch(undefined),
  deprecated_at: z.string().nullish(),
  retires_at: z.string().nullish(),
  max_input_tokens: z.number().nullish(),
  max_tokens: z.number().nullish(),
  capabilities: z.record(z.string(), z.unknown()).nullish(),
});
const modelList = z.object({ data: z.array(listed) });

const LEVELS = ["low", "medium", "high", "xhigh", "max"];

/** Parses Anthropic's list of models. Absent details stay unknown. */
export function readModelList(body: unknown): ModelInfo[] {
  return modelList.parse(body).data.map((model) => ({
    id: model.id,
    name: model.display_name ?? model.id,
    ...(model.max_input_tokens && { contextWindow: model.max_input_tokens }),
    ...(model.max_tokens && { maxOutputTokens: model.max_tokens }),
    ...(model.created_at && !UNKNOWN_DATE.test(model.created_at) && { releasedAt: model.created_at }),
    ...(model.lifecycle && { lifecycle: model.lifecycle }),
    ...(model.deprecated_at && { deprecatedAt: model.deprecated_at }),
    ...(model.retires_at && { retiresAt: model.retires_at }),
    ...(model.capabilities && readCapabilities(model.capabilities)),
  }));
}

function readCapabilities(capabilities: Record<string, unknown>): Pick<ModelInfo, "features" | "efforts"> {
  const features = Object.fromEntries(
    Object.entries(capabilities).flatMap(([name, value]) => {
      const { data } = supported.safeParse(value);
      return data ? [[name, data.supported]] : [];
    }),
  );
  const known = supported.safeParse(capabilities["effort"]).data;
  const efforts = known && LEVELS.filter((level) => supported.safeParse(known[level]).data?.supported);
  return { features, ...(known && { efforts: known.supported ? efforts! : [] }) };
}
