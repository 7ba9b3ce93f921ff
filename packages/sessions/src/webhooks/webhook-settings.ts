import type { Config, NOTIFY_EVENTS } from "@tandem/protocol";
import type { postDelivery } from "./post-delivery.ts";

/** An endpoint of tandem.yaml. */
type ConfiguredWebhook = Omit<Config["webhooks"][number], "secret"> & {
  /** The signing secret. Read for each request, so that a changed one applies without a restart. */
  secret: () => Promise<string>;
};

export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

export interface NotifySettings {
  /** Webhooks of version 0.1, with our own body and signature. */
  webhooks: readonly { url: string; on: readonly NotifyEvent[]; secret?: (() => Promise<string>) | undefined }[];
  desktop: boolean;
  /** The public address of an API path; undefined if it is not known. */
  link: (path: string) => string | undefined;
}

export interface WebhookSettings {
  webhooks?: readonly ConfiguredWebhook[];
  notify?: NotifySettings;
  /** Whether URLs must have public addresses: those who configure this engine do not own the machine. */
  publicMcpServers?: boolean;
  /** The tenant's id, for `workspace_id`. */
  tenant?: string;
  /** Sends deliveries. For tests that lose or repeat them. */
  postWebhook?: typeof postDelivery;
}
