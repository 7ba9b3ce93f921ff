import type { NotifyEvent } from "./notification.ts";
import type { Webhook } from "./send-webhook.ts";

export interface NotifySettings {
  webhooks: readonly (Webhook & { on: readonly NotifyEvent[] })[];
  desktop: boolean;
  /** The public address of an API path; undefined if it is not known. */
  link: (path: string) => string | undefined;
}
