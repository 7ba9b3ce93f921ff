import { z } from "zod";
import { described, event, eventId, openObject } from "./event-schema.ts";
import { modelUsage } from "./model-usage.ts";

export const requestNote = openObject({
  model: described("The answering model; absent if the request failed before an answer.", z.string().optional()),
  message_id: z.string().optional(),
  cache_write_5m_tokens: z.int().optional(),
  cache_write_1h_tokens: z.int().optional(),
  web_searches: z.int().optional(),
  usd: described("The list price, if known.", z.number().optional()),
}).meta({ id: "RequestNote", description: "Tandem's additions to a model request." });
export type RequestNote = z.infer<typeof requestNote>;

export const requestEvents = {
  ...event("span.model_request_start", "A request to the model has begun.", {
    tandem: openObject({ model: z.string().optional() }).optional(),
  }),
  ...event("span.model_request_end", "A request to the model has ended.", {
    model_request_start_id: eventId,
    is_error: z.boolean().nullable(),
    model_usage: modelUsage,
    tandem: requestNote,
  }),
};
