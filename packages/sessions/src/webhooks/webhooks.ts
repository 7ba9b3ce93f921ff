import type {
  BodyOutput,
  NotificationTarget,
  ResponseOf,
  WebhookDelivery,
  WebhookEndpointView,
} from "@tandem/protocol";

/** An endpoint without its secret. */
export type WebhookEndpoint = Omit<WebhookEndpointView, "tandem"> & WebhookEndpointView["tandem"];

/** Webhook endpoints and their deliveries. */
export interface Webhooks {
  /** Newest first. */
  list(): Promise<WebhookEndpoint[]>;
  get(id: string): Promise<WebhookEndpoint>;
  /** `secret` is returned here and nowhere else. */
  create(
    fields: BodyOutput<"organization.webhooks.create">,
    id?: string,
  ): Promise<{ endpoint: WebhookEndpoint; secret: string }>;
  update(id: string, change: BodyOutput<"organization.webhooks.update">): Promise<WebhookEndpoint>;
  delete(id: string): Promise<void>;
  /** Replaces the signing secret, and returns it. The former one also signs for a day. */
  rotate(id: string): Promise<string>;
  /** Sends a test event at once, even if the endpoint does not subscribe to its type. */
  test(id: string): Promise<ResponseOf<"organization.webhooks.test">>;
  /** Newest first, starting after the delivery `after`. */
  deliveries(id: string, query: { limit: number; after?: string }): Promise<WebhookDelivery[]>;
  /** Delivers an event of the log again, under the same id. */
  resend(id: string, delivery: string): Promise<WebhookDelivery>;
}

/** The targets of `notify`: webhooks of version 0.1 and the desktop. */
export interface Notifications {
  /** The targets, their kinds of events and their last result. */
  list(): Promise<NotificationTarget[]>;
  /** Sends a test to every target and returns the results. */
  test(): Promise<ResponseOf<"notifications.test">["data"]>;
}
