import { z } from "zod";
import { count, deletedOf, listOf } from "../page.ts";

/** A header's name as HTTP allows it. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, "expected the name of a header");

const hmac = z
  .strictObject({
    type: z.literal("hmac"),
    header: headerName.default("x-signature").describe("The header with the signature."),
    algorithm: z.enum(["sha256", "sha512", "sha1"]).default("sha256"),
    encoding: z.enum(["hex", "base64"]).default("hex"),
    prefix: z.string().max(50).default("").describe("A prefix of the signature, such as `sha256=`."),
    signed: z
      .string()
      .max(200)
      .refine((text) => text.includes("{body}"), "expected a text with {body}")
      .default("{body}")
      .describe("The signed text, such as `{timestamp}.{body}` or `v0:{timestamp}:{body}`."),
    timestamp_header: headerName.optional().describe("The header with the time in seconds. Needed for {timestamp}."),
    id_header: headerName.optional().describe("The header with the delivery's id, for the log."),
    event_header: headerName.optional().describe("The header with the name of the event."),
  })
  .refine(({ signed, timestamp_header }) => signed.includes("{timestamp}") === (timestamp_header !== undefined), {
    error: "timestamp_header and {timestamp} in `signed` belong together",
    path: ["timestamp_header"],
  });

export const triggerVerification = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("github") }),
    z.strictObject({ type: z.literal("standard_webhooks") }),
    hmac,
  ])
  .meta({ id: "TriggerVerification" });
export type TriggerVerification = z.infer<typeof triggerVerification>;

/** Names and list positions, such as `pull_request.base.ref` or `labels.0.name`; `*` stands for every entry of a list. */
const payloadPath = z
  .string()
  .max(200)
  .regex(/^[\w$*-]+(\.[\w$*-]+)*$/, "expected a path such as pull_request.base.ref");

export const triggerFilter = z
  .strictObject({
    events: z
      .array(z.string().min(1).max(100))
      .max(50)
      .optional()
      .describe("Such as `issues.opened` or `push`. Absent: every event."),
    where: z
      .array(z.strictObject({ path: payloadPath, in: z.array(z.string().max(500)).min(1).max(50) }))
      .max(20)
      .optional()
      .describe("Every condition must hold: a value at `path` is one of `in`."),
  })
  .meta({ id: "TriggerFilter" });
export type TriggerFilter = z.infer<typeof triggerFilter>;

const settings = {
  name: z.string().min(1).max(100).describe("For people and the log."),
  verification: triggerVerification,
  filter: triggerFilter.nullable(),
  message: z
    .string()
    .min(1)
    .max(20_000)
    .nullable()
    .describe("The agent's first message. `{{path}}` inserts a value of the payload, `{{payload}}` all of it."),
  enabled: z.boolean(),
};

/** Long enough that it cannot be guessed. */
const secret = z.string().min(16).max(500);

const trigger = z
  .object({
    type: z.literal("trigger"),
    id: z.string(),
    deployment_id: z.string(),
    ...settings,
    path: z.string().describe("Where deliveries are posted, below the server's address."),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Trigger" });
export type Trigger = z.infer<typeof trigger>;

const withSecret = trigger
  .extend({ secret: z.string().nullable().describe("Shown once, and only if the server chose it.") })
  .meta({ id: "TriggerWithSecret" });
export type TriggerWithSecret = z.infer<typeof withSecret>;

const created = z
  .strictObject({
    ...settings,
    name: settings.name.default("trigger"),
    filter: settings.filter.default(null),
    message: settings.message.default(null),
    enabled: settings.enabled.default(true),
    secret: secret.optional().describe("The sender's secret. Absent: the server chooses one and answers with it."),
  })
  .meta({ id: "CreateTrigger" });
export type TriggerCreateParams = z.infer<typeof created>;

const updated = z.strictObject(settings).partial().meta({ id: "UpdateTrigger" });
export type TriggerUpdateParams = z.infer<typeof updated>;

const delivery = z
  .object({
    type: z.literal("trigger_delivery"),
    id: z.string().nullable().describe("The sender's id of the delivery."),
    event: z.string().nullable(),
    received_at: z.string(),
    result: z.enum(["accepted", "ignored"]),
    reason: z.string().nullable().describe("Why it was ignored."),
    run_id: z.string().nullable(),
  })
  .meta({ id: "TriggerDelivery" });
export type TriggerDelivery = z.infer<typeof delivery>;

const receipt = z
  .object({
    type: z.literal("trigger_receipt"),
    result: z.enum(["accepted", "ignored"]),
    reason: z.string().nullable(),
    run_id: z.string().nullable(),
  })
  .meta({ id: "TriggerReceipt" });
export type TriggerReceipt = z.infer<typeof receipt>;

export const triggersApi = {
  "deployments.triggers.list": { response: listOf(trigger) },
  "deployments.triggers.create": { body: created, response: withSecret },
  "deployments.triggers.retrieve": { response: trigger },
  "deployments.triggers.update": { body: updated, response: trigger },
  "deployments.triggers.delete": { response: deletedOf("trigger_deleted") },
  "deployments.triggers.rotate": {
    body: z.strictObject({ secret: secret.optional() }).optional(),
    response: withSecret,
  },
  "deployments.triggers.deliveries": {
    query: z.strictObject({ limit: count().min(1).max(200).default(20) }),
    response: listOf(delivery),
  },
  "triggers.deliver": {
    query: z.strictObject({
      tenant: z.string().optional().meta({ description: "The trigger's tenant, if it is not the default one." }),
    }),
    signed: z.unknown().meta({ description: "The delivery. The trigger checks the signature of its bytes." }),
    receipt,
  },
};
