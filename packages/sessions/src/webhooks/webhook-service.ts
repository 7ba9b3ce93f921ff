import {
  isoNow,
  newId,
  RequestError,
  type BodyOutput,
  type Clock,
  type NotificationTarget,
  type ResponseOf,
  type WebhookDelivery,
  type WebhookEndpointView,
} from "@tandem/protocol";
import { DEFAULT_TENANT, DUE, WEBHOOKS, type SecretBox, type Store, type StoredRecord } from "@tandem/storage";
import { externalDeadline } from "../host/external-deadline.ts";
import type { HostSettings, Log } from "../host/host-settings.ts";
import { configuredEndpoints, type ConfiguredEndpoint } from "./configured-endpoints.ts";
import { DELIVERY, dueKey, logKey, readLogged } from "./delivery-record.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { moveDueNotifications } from "./due-notifications.ts";
import { readStatus, STATUS, type EndpointRecord, type EndpointStatus } from "./endpoint-record.ts";
import { pruneDeliveries } from "./prune-deliveries.ts";
import { WebhookEndpoints } from "./webhook-endpoints.ts";
import { WebhookSender, type SenderSettings, type SendResult } from "./webhook-sender.ts";
import type { WebhookSettings } from "./webhook-settings.ts";

/** Above this number, the count is not exact. */
const MAX_COUNTED = 1_000;

/** An endpoint without its secret. */
export type WebhookEndpoint = Omit<WebhookEndpointView, "tandem"> & WebhookEndpointView["tandem"];

interface ServiceSettings extends WebhookSettings, Pick<HostSettings, "hostVariables"> {
  clock: Clock;
  log: Log;
  /** The first is the project's folder. */
  roots: readonly string[];
  lookup?: SenderSettings["lookup"];
  secrets: SecretBox;
}

/** Webhook endpoints and their deliveries. */
export class WebhookService {
  readonly #store: Store;
  readonly #settings: ServiceSettings;
  readonly #configured: ReadonlyMap<string, ConfiguredEndpoint>;
  readonly #endpoints: WebhookEndpoints;
  readonly #sender: WebhookSender;
  readonly #queue: DeliveryQueue;
  #synced: Promise<void> | undefined;

  constructor(store: Store, settings: ServiceSettings) {
    const { clock, log, hostVariables, lookup, publicMcpServers: publicOnly = false } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#configured = configuredEndpoints(settings, settings.roots[0]!, isoNow(clock));
    this.#endpoints = new WebhookEndpoints(store.records, clock, { publicOnly, secrets: settings.secrets });
    this.#sender = new WebhookSender(store, this.#endpoints, this.#configured, {
      clock,
      hostVariables,
      publicOnly,
      tenant: settings.tenant ?? DEFAULT_TENANT,
      link: settings.notify?.link ?? (() => undefined),
      ...(lookup && { lookup }),
      ...(settings.postWebhook && { post: settings.postWebhook }),
    });
    this.#queue = new DeliveryQueue({ store, endpoints: this.#endpoints, sender: this.#sender, clock, log });
  }

  async start(): Promise<void> {
    await this.#sync();
    await moveDueNotifications(this.#store.records, this.#configured, this.#settings.clock.now());
    this.#queue.start();
  }

  /** Copies the endpoints of the file into the store, once. A command may use them without starting the engine. */
  #sync(): Promise<void> {
    const records = [...this.#configured.values()].map(({ record }) => record);
    return (this.#synced ??= this.#endpoints.syncConfig(this.#settings.roots[0]!, records).catch((error: unknown) => {
      this.#synced = undefined;
      throw error;
    }));
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** Newest first. */
  async list(): Promise<WebhookEndpoint[]> {
    await this.#sync();
    const own = (await this.#endpoints.list()).filter(({ kind }) => kind === "standard");
    return Promise.all(own.toReversed().map((endpoint) => this.#view(endpoint)));
  }

  async get(id: string): Promise<WebhookEndpoint> {
    return this.#view(await this.#endpoints.get(id));
  }

  /** `secret` is returned here and nowhere else. */
  async create(
    fields: BodyOutput<"organization.webhooks.create">,
    id?: string,
  ): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
    const { endpoint, secret } = await this.#endpoints.create(fields, id);
    this.#queue.wake();
    return { endpoint: await this.#view(endpoint), secret };
  }

  async update(id: string, change: BodyOutput<"organization.webhooks.update">): Promise<WebhookEndpoint> {
    const endpoint = await this.#endpoints.update(id, change);
    this.#queue.wake();
    // Deliveries that wait for an endpoint are dropped when it is disabled.
    if (change.state === "disabled") await pruneDeliveries(this.#pruning);
    return this.#view(endpoint);
  }

  async delete(id: string): Promise<void> {
    await this.#endpoints.delete(id);
    await pruneDeliveries(this.#pruning);
  }

  get #pruning() {
    return { store: this.#store, endpoints: this.#endpoints, clock: this.#settings.clock };
  }

  /** Replaces the signing secret, and returns it. The former one also signs for a day. */
  rotate(id: string): Promise<string> {
    return this.#endpoints.rotate(id);
  }

  /** Sends a test event at once, even if the endpoint does not subscribe to its type. */
  async test(id: string): Promise<ResponseOf<"organization.webhooks.test">> {
    const result = await this.#test(await this.#endpoints.get(id));
    const detail = result.type === "delivered" ? null : result.detail;
    return { delivered: result.type === "delivered", status: result.status, detail };
  }

  /** Newest first, starting after the delivery `after`. */
  async deliveries(id: string, { limit, after }: { limit: number; after?: string }): Promise<WebhookDelivery[]> {
    await this.#endpoints.get(id);
    const records = await this.#store.records.list(WEBHOOKS, DELIVERY, {
      prefix: `${id}/`,
      order: "desc",
      limit,
      ...(after !== undefined && { after: logKey(id, after) }),
    });
    return records.map(deliveryView);
  }

  /** Delivers an event of the log again, under the same id. */
  async resend(id: string, delivery: string): Promise<WebhookDelivery> {
    const endpoint = await this.#endpoints.get(id);
    const record = await this.#store.records.get(WEBHOOKS, DELIVERY, logKey(id, delivery));
    if (!record) throw new RequestError("not_found", `The endpoint ${id} has no delivery ${delivery} in its log.`);
    if (endpoint.state === "disabled") {
      throw new RequestError("conflict", "The endpoint is disabled.", { fix: "Enable it first." });
    }
    const logged = readLogged(record.value);
    const { announcement, created_at } = logged;
    const now = this.#settings.clock.now();
    const pending = { ...logged, state: "pending", next_at: new Date(now).toISOString() };
    await this.#store.records.write(WEBHOOKS, [
      { type: "put", kind: DUE, key: dueKey(id, now, delivery), value: { announcement, created_at, attempts: 0 } },
      { type: "put", kind: DELIVERY, key: record.key, value: pending, version: record.version },
    ]);
    this.#queue.wake();
    return deliveryView({ ...record, value: pending });
  }

  /** The targets of `notify`: webhooks of version 0.1 and the desktop. */
  readonly notifications = {
    /** The targets, their kinds of events and their last result. */
    list: async (): Promise<NotificationTarget[]> => {
      const targets = [...this.#configured.values()].filter(({ record }) => record.kind !== "standard");
      return Promise.all(targets.map((target) => this.#target(target)));
    },
    /** Sends a test to every target and returns the results. */
    test: async (): Promise<ResponseOf<"notifications.test">["data"]> => {
      const targets = [...this.#configured.values()].filter(({ record }) => record.kind !== "standard");
      if (targets.length === 0) {
        throw new RequestError("invalid_request", "No notification targets are configured.", {
          fix: "Set notify.desktop to true in tandem.yaml. For a webhook: tandem webhooks add URL.",
        });
      }
      return Promise.all(
        targets.map(async ({ record }) => {
          const result = await this.#test(record);
          const isDelivered = result.type === "delivered";
          return { target: placeOf(record), delivered: isDelivered, detail: isDelivered ? null : result.detail };
        }),
      );
    },
  };

  /** Sends a test at once and logs it. */
  async #test(endpoint: EndpointRecord): Promise<Exclude<SendResult, { type: "irrelevant" }>> {
    const { clock } = this.#settings;
    const id = newId("webhookEvent", clock.now());
    const announcement = { type: "tandem.test" as const, id: endpoint.id };
    const created_at = isoNow(clock);
    const sent = await this.#sender.send(endpoint, { id, announcement, created_at }, externalDeadline(MAX_TEST_MS));
    const result =
      sent.type === "irrelevant"
        ? ({ type: "refused", status: null, detail: "it gets no tests", disables: false } as const)
        : sent;
    const due = { announcement, created_at, attempts: 1 };
    await this.#store.records.write(WEBHOOKS, this.#queue.record(endpoint, id, due, result));
    return result;
  }

  async #target({ record, on = [], secret }: ConfiguredEndpoint): Promise<NotificationTarget> {
    const status = await this.#status(record.id);
    return {
      target: placeOf(record),
      on: [...on],
      signed: secret !== undefined,
      waiting: await this.#pending(record.id),
      last: status && { at: status.at, delivered: status.delivered, detail: status.detail },
    };
  }

  async #view(record: EndpointRecord): Promise<WebhookEndpoint> {
    const { kind: _, project: __, ...endpoint } = record;
    return { ...endpoint, pending: await this.#pending(endpoint.id), last: await this.#status(endpoint.id) };
  }

  async #pending(id: string): Promise<number> {
    return (await this.#store.records.list(WEBHOOKS, DUE, { prefix: `${id}/`, limit: MAX_COUNTED })).length;
  }

  async #status(id: string): Promise<EndpointStatus | null> {
    const record = await this.#store.records.get(WEBHOOKS, STATUS, id);
    return record ? readStatus(record.value) : null;
  }
}

export type Webhooks = Omit<WebhookService, "start" | "stop" | "notifications">;

const MAX_TEST_MS = 20_000;

function deliveryView({ key, value }: StoredRecord): WebhookDelivery {
  const { announcement, ...rest } = readLogged(value);
  return { id: key.split("/")[1]!, type: announcement.type, resource_id: announcement.id, ...rest };
}

/** Without secret parts of the URL: its query and key-like segments. */
function placeOf({ kind, url }: EndpointRecord): string {
  if (kind === "desktop") return "desktop";
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(/[^/]{20,}/g, "…");
}
