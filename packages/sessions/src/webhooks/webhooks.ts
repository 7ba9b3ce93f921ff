import type { EndpointRecord, EndpointStatus } from "./endpoint-record.ts";
import type { LoggedDelivery } from "./delivery-record.ts";
import type { NotifyEvent } from "./webhook-settings.ts";
import type { EndpointFields, EndpointUpdate } from "./webhook-endpoints.ts";

/** An endpoint without its secret. */
export interface WebhookEndpoint extends Pick<
  EndpointRecord,
  | "id"
  | "url"
  | "name"
  | "description"
  | "enabled_events"
  | "state"
  | "disabled_reason"
  | "created_at"
  | "updated_at"
  | "source"
> {
  /** Deliveries that wait for an attempt. */
  pending: number;
  last: EndpointStatus | null;
}

export interface WebhookDelivery extends Omit<LoggedDelivery, "announcement"> {
  /** The id of the webhook event. */
  id: string;
  type: LoggedDelivery["announcement"]["type"];
  /** The id of the resource that changed. */
  resource_id: string;
}

/** Webhook endpoints and their deliveries. */
export interface Webhooks {
  /** Newest first. */
  list(): Promise<WebhookEndpoint[]>;
  get(id: string): Promise<WebhookEndpoint>;
  /** `secret` is returned here and nowhere else. */
  create(fields: EndpointFields, id?: string): Promise<{ endpoint: WebhookEndpoint; secret: string }>;
  update(id: string, change: EndpointUpdate): Promise<WebhookEndpoint>;
  delete(id: string): Promise<void>;
  /** Replaces the signing secret, and returns it. The former one also signs for a day. */
  rotate(id: string): Promise<string>;
  /** Sends a test event at once, even if the endpoint does not subscribe to its type. */
  test(id: string): Promise<{ delivered: boolean; status: number | null; detail: string | null }>;
  /** Newest first, starting after the delivery `after`. */
  deliveries(id: string, query: { limit: number; after?: string }): Promise<WebhookDelivery[]>;
  /** Delivers an event of the log again, under the same id. */
  resend(id: string, delivery: string): Promise<WebhookDelivery>;
}

/** The targets of `notify`: webhooks of version 0.1 and the desktop. */
export interface Notifications {
  /** The targets, their kinds of events and their last result. */
  list(): Promise<NotifyTarget[]>;
  /** Sends a test to every target and returns the results. */
  test(): Promise<{ target: string; delivered: boolean; detail: string | null }[]>;
}

export interface NotifyTarget {
  /** `desktop`, or the URL without secret parts. */
  target: string;
  on: NotifyEvent[];
  signed: boolean;
  /** Deliveries to retry. */
  waiting: number;
  last: { at: string; delivered: boolean; detail: string | null } | null;
}
