import { isoNow, newId, RequestError, type BodyOutput, type Clock } from "@tandem/protocol";
import { WEBHOOKS, type RecordChange, type Records, type SecretBox } from "@tandem/storage";
import { tryWrite } from "../host/until-written.ts";
import {
  ENDPOINT,
  endpointChanges,
  endpointRemoval,
  readEndpoint,
  readSecretRecord,
  SECRET,
  type EndpointRecord,
} from "./endpoint-record.ts";
import { newSigningSecret } from "./sign-delivery.ts";

const MAX_ENDPOINTS = 32;
/** More than programs and files may name together. */
const MAX_LISTED = 1_000;
/** How long the former secret signs, too. */
const ROTATION_MS = 24 * 60 * 60_000;

/** The endpoints in the store: those that programs registered, and a copy of those of the project's file. */
export class WebhookEndpoints {
  readonly #records: Records;
  readonly #clock: Clock;
  readonly #publicOnly: boolean;
  readonly #box: SecretBox;

  constructor(records: Records, clock: Clock, { publicOnly, secrets }: { publicOnly: boolean; secrets: SecretBox }) {
    this.#box = secrets;
    this.#records = records;
    this.#clock = clock;
    this.#publicOnly = publicOnly;
  }

  /** Oldest first. */
  async list(): Promise<EndpointRecord[]> {
    const records = await this.#records.list(WEBHOOKS, ENDPOINT, { limit: MAX_LISTED });
    return records
      .map(({ value }) => readEndpoint(value))
      .toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id));
  }

  async get(id: string): Promise<EndpointRecord> {
    return (await this.#read(id)).endpoint;
  }

  async create(
    fields: BodyOutput<"organization.webhooks.create">,
    id: string = newId("webhookEndpoint", this.#clock.now()),
  ) {
    checkUrl(fields.url, this.#publicOnly);
    const own = (await this.list()).filter(({ source }) => source === "api");
    if (own.length >= MAX_ENDPOINTS) {
      throw new RequestError("conflict", `There are ${MAX_ENDPOINTS} webhook endpoints, the maximum.`, {
        fix: "Delete one that is not needed any more.",
      });
    }
    const now = isoNow(this.#clock);
    const endpoint: EndpointRecord = {
      id,
      kind: "standard",
      source: "api",
      project: null,
      ...fields,
      enabled_events: unique(fields.enabled_events),
      state: "enabled",
      disabled_reason: "",
      created_at: now,
      updated_at: now,
    };
    const secret = newSigningSecret();
    await this.#records.write(WEBHOOKS, [
      ...endpointChanges(undefined, endpoint),
      { type: "put", kind: SECRET, key: id, value: { current: await this.#box.seal(secret, id) } },
    ]);
    return { endpoint, secret };
  }

  async update(
    id: string,
    { enabled_events: events, ...change }: BodyOutput<"organization.webhooks.update">,
  ): Promise<EndpointRecord> {
    const before = await this.#read(id);
    const { endpoint } = before;
    if (change.url !== undefined) checkUrl(change.url, this.#publicOnly);
    const isMore = [change.url, change.name, change.description, events].some((field) => field !== undefined);
    if (endpoint.source === "config" && isMore) throw inFile(endpoint);
    const after: EndpointRecord = {
      ...endpoint,
      ...change,
      ...(events && events.length > 0 && { enabled_events: unique(events) }),
      // Only Tandem gives a reason.
      ...(change.state !== undefined && { disabled_reason: "" }),
      updated_at: isoNow(this.#clock),
    };
    await this.#records.write(WEBHOOKS, endpointChanges(before, after));
    return after;
  }

  /** Stops deliveries because the endpoint cannot be used. Nothing happens if it changed in the meantime. */
  async disable(id: string, reason: string): Promise<void> {
    try {
      const before = await this.#read(id);
      if (before.endpoint.state === "disabled") return;
      const after: EndpointRecord = {
        ...before.endpoint,
        state: "disabled",
        disabled_reason: reason,
        updated_at: isoNow(this.#clock),
      };
      await this.#records.write(WEBHOOKS, endpointChanges(before, after));
    } catch (error) {
      if (!(error instanceof RequestError && ["conflict", "not_found"].includes(error.code))) throw error;
    }
  }

  async delete(id: string): Promise<void> {
    const { endpoint } = await this.#read(id);
    if (endpoint.source === "config") throw inFile(endpoint);
    await this.#records.write(WEBHOOKS, endpointRemoval(endpoint));
  }

  /** Returns the new secret. */
  async rotate(id: string): Promise<string> {
    const { endpoint } = await this.#read(id);
    if (endpoint.source === "config") throw inFile(endpoint);
    const stored = await this.#records.get(WEBHOOKS, SECRET, id);
    const secret = newSigningSecret();
    const former = stored && readSecretRecord(stored.value).current;
    const value = {
      current: await this.#box.seal(secret, id),
      ...(former !== undefined && { previous: { secret: former, until: this.#clock.now() + ROTATION_MS } }),
    };
    const put: RecordChange = { type: "put", kind: SECRET, key: id, value, version: stored?.version ?? 0 };
    await this.#records.write(WEBHOOKS, [put]);
    return secret;
  }

  /** The secrets that sign now, the newest first. */
  async secrets(id: string): Promise<string[]> {
    const stored = await this.#records.get(WEBHOOKS, SECRET, id);
    if (!stored) return [];
    const { current, previous } = readSecretRecord(stored.value);
    const isOpen = previous !== undefined && previous.until > this.#clock.now();
    const sealed = isOpen ? [current, previous.secret] : [current];
    return Promise.all(sealed.map((each) => this.#box.open(each, id)));
  }

  /** Makes the stored endpoints of a project's file equal to the file. */
  async syncConfig(project: string, wanted: readonly EndpointRecord[]): Promise<void> {
    const stored = (await this.list()).filter((each) => each.source === "config" && each.project === project);
    const ids = new Set(wanted.map(({ id }) => id));
    for (const endpoint of stored) {
      if (!ids.has(endpoint.id)) await this.#records.write(WEBHOOKS, endpointRemoval(endpoint));
    }
    for (const endpoint of wanted) {
      const found = await this.#records.get(WEBHOOKS, ENDPOINT, endpoint.id);
      const before = found && { endpoint: readEndpoint(found.value), version: found.version };
      // Tandem tries an endpoint again that it disabled itself; a person's decision stays.
      const isOff = before?.endpoint.state === "disabled" && before.endpoint.disabled_reason === "";
      const after: EndpointRecord = {
        ...endpoint,
        state: isOff ? "disabled" : "enabled",
        ...(before && { created_at: before.endpoint.created_at, updated_at: before.endpoint.updated_at }),
      };
      if (before && JSON.stringify(before.endpoint) === JSON.stringify(after)) continue;
      // Another process of the fleet may write the same.
      await tryWrite(this.#records.write(WEBHOOKS, endpointChanges(before, after)));
    }
  }

  async #read(id: string): Promise<{ endpoint: EndpointRecord; version: number }> {
    const found = await this.#records.get(WEBHOOKS, ENDPOINT, id);
    const endpoint = found && readEndpoint(found.value);
    // The others are settings of notifications.
    if (endpoint?.kind !== "standard") throw new RequestError("not_found", `There is no webhook endpoint ${id}.`);
    return { endpoint, version: found!.version };
  }
}

const unique = (types: EndpointRecord["enabled_events"]) => [...new Set(types)];

function checkUrl(text: string, publicOnly: boolean): void {
  const url = URL.parse(text);
  const protocols = publicOnly ? ["https:"] : ["https:", "http:"];
  if (!url || !protocols.includes(url.protocol)) {
    throw new RequestError("invalid_request", `url: expected an ${publicOnly ? "https" : "http or https"} URL.`, {
      fix: "Write the whole address, such as https://example.com/hooks.",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new RequestError("invalid_request", "url: a URL with a user name or password would be shown in lists.", {
      fix: "Verify the signature instead.",
    });
  }
}

const inFile = ({ name, url }: EndpointRecord): RequestError =>
  new RequestError("forbidden", `The endpoint ${name || url} is managed by tandem.yaml.`, {
    fix: "Change it under webhooks in tandem.yaml and start the server again. Its state can be changed here.",
  });
