import { z } from "zod";
import { WEBHOOK_EVENTS } from "../../webhooks/webhook-event.ts";
import { count, deletedOf, order, pageOf, pageQuery } from "../page.ts";

// Webhook endpoints in the shapes of Anthropic's API for organizations, which takes three types of events. Ours are more.

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 20;
const types = z.array(z.enum(WEBHOOK_EVENTS)).max(WEBHOOK_EVENTS.length);

export const lastDelivery = z.object({
  at: z.string(),
  delivered: z.boolean(),
  status: z.int().nullable().meta({ description: "The status that the endpoint answered." }),
  detail: z.string().nullable().meta({ description: "The reason for a failure." }),
});

export const webhookEndpoint = z
  .object({
    id: z.string(),
    url: z.string(),
    name: z.string(),
    description: z.string(),
    enabled_events: types,
    state: z.enum(["enabled", "disabled"]),
    disabled_reason: z.string().meta({ description: "Empty unless Tandem disabled it." }),
    created_at: z.string(),
    updated_at: z.string(),
    tandem: z.object({
      source: z.enum(["api", "config"]).meta({ description: "`config`: it is managed by tandem.yaml." }),
      pending: z.int().meta({ description: "Deliveries that wait for an attempt." }),
      last: lastDelivery.nullable(),
    }),
  })
  .meta({ id: "WebhookEndpoint" });
export type WebhookEndpointView = z.infer<typeof webhookEndpoint>;

export const webhookDelivery = z
  .object({
    id: z.string().meta({ description: "The id of the event, which is also in the header `webhook-id`." }),
    type: z.enum([...WEBHOOK_EVENTS, "tandem.test"]),
    resource_id: z.string(),
    created_at: z.string(),
    state: z.enum(["pending", "delivered", "failed", "dropped"]),
    attempts: z.int(),
    last_at: z.string(),
    next_at: z.string().nullable(),
    status: z.int().nullable(),
    detail: z.string().nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

const fields = {
  url: z.string().min(1).max(2_048),
  name: z.string().max(100),
  description: z.string().max(1_000),
};

export const webhooksApi = {
  "organization.webhooks.create": {
    body: z
      .strictObject({
        url: fields.url,
        enabled_events: types.min(1),
        name: fields.name.default(""),
        description: fields.description.default(""),
      })
      .meta({ id: "CreateWebhookEndpoint" }),
    response: webhookEndpoint.extend({ signing_secret: z.string() }).meta({ id: "CreatedWebhookEndpoint" }),
  },
  "organization.webhooks.list": {
    query: z.strictObject({
      limit: count().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
      after_id: z.string().min(1).optional(),
      before_id: z.string().min(1).optional(),
      ...order,
    }),
    response: z.object({
      data: z.array(webhookEndpoint),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
  },
  "organization.webhooks.retrieve": { response: webhookEndpoint },
  "organization.webhooks.update": {
    body: z
      .strictObject({
        url: fields.url.optional(),
        name: fields.name.optional(),
        description: fields.description.optional(),
        enabled_events: types.optional(),
        state: z.enum(["enabled", "disabled"]).optional(),
      })
      .meta({ id: "UpdateWebhookEndpoint" }),
    response: webhookEndpoint,
  },
  "organization.webhooks.delete": { response: deletedOf("webhook_endpoint_deleted") },
  "organization.webhooks.regenerateSigningSecret": { response: z.object({ signing_secret: z.string() }) },
  "organization.webhooks.test": {
    response: z
      .object({ delivered: z.boolean(), status: z.int().nullable(), detail: z.string().nullable() })
      .meta({ id: "WebhookTest" }),
  },
  "organization.webhooks.deliveries.list": { query: z.strictObject(pageQuery), response: pageOf(webhookDelivery) },
  "organization.webhooks.deliveries.resend": { response: webhookDelivery },
};
