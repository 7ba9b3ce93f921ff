import { createHash, createHmac } from "node:crypto";
import { execFile } from "node:child_process";
import { platform } from "node:os";
import { promisify } from "node:util";
import { type Announcement, type SessionId, type WebhookEvent, isoNow, type Clock } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { ConfiguredEndpoint } from "./configured-endpoints.ts";
import type { EndpointRecord } from "./endpoint-record.ts";
import { describe, notifyEventOf, type Notification } from "./legacy-notification.ts";
import { postDelivery, type PostOptions } from "./post-delivery.ts";
import { signDelivery } from "./sign-delivery.ts";
import type { WebhookEndpoints } from "./webhook-endpoints.ts";

export type SendResult =
  | { type: "delivered"; status: number | null }
  /** It may succeed later. */
  | { type: "failed"; status: number | null; detail: string }
  /** A retry would have the same result. `disables`: so would every other delivery. */
  | { type: "refused"; status: number | null; detail: string; disables: boolean }
  /** There is nothing to send to this endpoint. */
  | { type: "irrelevant" };

export interface Sending {
  /** The id of the webhook event. */
  id: string;
  announcement: Announcement;
  created_at: string;
}

export interface SenderSettings {
  clock: Clock;
  hostVariables: Readonly<Record<string, string | undefined>>;
  publicOnly: boolean;
  tenant: string;
  link: (path: string) => string | undefined;
  /** For tests. */
  lookup?: PostOptions["lookup"];
  /** For tests. */
  post?: typeof postDelivery;
}

/** A desktop shows nothing that is older. */
const DESKTOP_MS = 10 * 60_000;
const ORGANIZATION = "org_tandem";
/** The endpoint reports that it is permanently gone. */
const GONE = 410;

/** Sends one delivery to one endpoint. */
export class WebhookSender {
  readonly #store: Pick<Store, "events" | "sessions">;
  readonly #endpoints: WebhookEndpoints;
  readonly #configured: ReadonlyMap<string, ConfiguredEndpoint>;
  readonly #settings: SenderSettings;

  constructor(
    store: Pick<Store, "events" | "sessions">,
    endpoints: WebhookEndpoints,
    configured: ReadonlyMap<string, ConfiguredEndpoint>,
    settings: SenderSettings,
  ) {
    this.#store = store;
    this.#endpoints = endpoints;
    this.#configured = configured;
    this.#settings = settings;
  }

  /** Only a process with the project's file has the secret of an endpoint in it. */
  canSend({ id, source }: EndpointRecord): boolean {
    return source === "api" || this.#configured.has(id);
  }

  async send(endpoint: EndpointRecord, sending: Sending, signal: AbortSignal): Promise<SendResult> {
    switch (endpoint.kind) {
      case "standard":
        return this.#sendStandard(endpoint, sending, signal);
      case "legacy":
      case "desktop": {
        const notification = await this.#notification(endpoint, sending);
        if (!notification) return { type: "irrelevant" };
        if (endpoint.kind === "legacy") return this.#sendLegacy(endpoint, sending, notification, signal);
        const isOld = Date.parse(sending.created_at) + DESKTOP_MS < this.#settings.clock.now();
        return isOld ? { type: "irrelevant" } : this.#show(notification);
      }
    }
  }

  async #sendStandard(endpoint: EndpointRecord, sending: Sending, signal: AbortSignal): Promise<SendResult> {
    const { clock, publicOnly, lookup, post = postDelivery } = this.#settings;
    const body = JSON.stringify(this.#event(sending));
    const timestamp = Math.floor(clock.now() / 1_000);
    let headers: Record<string, string>;
    try {
      const configured = this.#configured.get(endpoint.id)?.secret;
      const secrets = configured ? [await configured()] : await this.#endpoints.secrets(endpoint.id);
      headers = signDelivery({ id: sending.id, timestamp, body }, secrets);
    } catch (error) {
      return { type: "failed", status: null, detail: `it could not be signed: ${(error as Error).message}` };
    }
    const result = await post(endpoint.url, headers, body, { publicOnly, signal, ...(lookup && { lookup }) });
    switch (result.type) {
      case "failed":
        return { type: "failed", status: null, detail: result.detail };
      case "private_address":
        return { type: "refused", status: null, detail: result.detail, disables: true };
      case "answered": {
        const { status } = result;
        if (status >= 200 && status <= 299) return { type: "delivered", status };
        const isFinal = (status >= 300 && status <= 399) || status === GONE;
        if (isFinal) return { type: "refused", status, detail: `it answered ${status}`, disables: true };
        return { type: "failed", status, detail: `it answered ${status}` };
      }
    }
  }

  #event({ id, announcement, created_at }: Sending): WebhookEvent {
    const { event_id: _, ...data } = announcement;
    const place = { organization_id: ORGANIZATION, workspace_id: `wrkspc_${this.#settings.tenant}` };
    return { type: "event", id, created_at, data: { ...data, ...place } };
  }

  /** The notification of version 0.1 for an announcement. */
  async #notification(endpoint: EndpointRecord, { announcement }: Sending): Promise<Notification | undefined> {
    const { id, type, event_id: event } = announcement;
    if (type === "tandem.test") {
      const text = "This is a test. Notifications of sessions arrive here.";
      return { type: "test", at: isoNow(this.#settings.clock), text };
    }
    const session = id as SessionId;
    const row = await this.#store.sessions.get(session);
    const logged = row && event !== undefined ? await this.#store.events.find(session, event) : undefined;
    const kind = logged && notifyEventOf(logged);
    if (!row || !kind || !this.#configured.get(endpoint.id)?.on?.includes(kind)) return undefined;
    return describe(logged, row, this.#settings);
  }

  async #sendLegacy(
    endpoint: EndpointRecord,
    { id, announcement }: Sending,
    notification: Notification,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { clock, publicOnly, lookup, post = postDelivery } = this.#settings;
    const delivery = announcement.event_id === undefined ? id : `${announcement.event_id}/${keyOf(endpoint.url)}`;
    const body = JSON.stringify({ id: delivery, ...notification });
    const timestamp = String(Math.floor(clock.now() / 1_000));
    const headers: Record<string, string> = { "tandem-delivery": delivery, "tandem-timestamp": timestamp };
    try {
      const secret = await this.#configured.get(endpoint.id)?.secret?.();
      if (secret !== undefined) {
        const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
        headers["tandem-signature"] = `v1=${signature}`;
      }
    } catch (error) {
      return { type: "failed", status: null, detail: `it could not be signed: ${(error as Error).message}` };
    }
    const result = await post(endpoint.url, headers, body, { publicOnly, signal, ...(lookup && { lookup }) });
    if (result.type === "private_address") {
      return { type: "refused", status: null, detail: result.detail, disables: false };
    }
    if (result.type === "failed") return { type: "failed", status: null, detail: result.detail };
    const { status } = result;
    if (status >= 200 && status <= 299) return { type: "delivered", status };
    const isPassing = status >= 500 || status === 408 || status === 429;
    const detail = `it answered ${status}`;
    return isPassing ? { type: "failed", status, detail } : { type: "refused", status, detail, disables: false };
  }

  async #show(notification: Notification): Promise<SendResult> {
    const shown = await showOnDesktop(notification, this.#settings.hostVariables);
    if (shown.type === "delivered") return { type: "delivered", status: null };
    return { type: "refused", status: null, detail: shown.why, disables: false };
  }
}

const keyOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);

const run = promisify(execFile);
const DEADLINE_MS = 5_000;

/** The text is passed as arguments, so that it is never run as code. */
const SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

function commandFor(os: NodeJS.Platform, text: string): [string, string[]] | undefined {
  if (os === "darwin") return ["osascript", ["-e", SCRIPT, "Tandem", text]];
  if (os === "linux") return ["notify-send", ["--app-name=Tandem", "--", "Tandem", text]];
  return undefined;
}

/** Shows a notification on this machine's desktop, if it supports that. */
async function showOnDesktop(
  { text }: Pick<Notification, "text">,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<{ type: "delivered" } | { type: "refused" | "failed"; why: string }> {
  const command = commandFor(platform(), text);
  if (!command) return { type: "refused", why: `there is no way to show notifications on ${platform()}` };
  try {
    await run(command[0], command[1], { timeout: DEADLINE_MS, env: { ...variables } });
    return { type: "delivered" };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? `${command[0]} is not installed` : (error as Error).message;
    return { type: isMissing ? "refused" : "failed", why };
  }
}
