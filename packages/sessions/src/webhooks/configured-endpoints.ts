import { createHash } from "node:crypto";
import type { EndpointRecord } from "./endpoint-record.ts";
import type { NotifyEvent, WebhookSettings } from "./webhook-settings.ts";

export interface ConfiguredEndpoint {
  record: EndpointRecord;
  secret?: (() => Promise<string>) | undefined;
  /** Of a `legacy` endpoint or the desktop. */
  on?: readonly NotifyEvent[];
}

/** The endpoints that the project's file names, by id. The id is derived from the entry, so that all processes agree. */
export function configuredEndpoints(
  { webhooks = [], notify }: Pick<WebhookSettings, "webhooks" | "notify">,
  project: string,
  now: string,
): Map<string, ConfiguredEndpoint> {
  const record = (
    kind: EndpointRecord["kind"],
    fields: Pick<EndpointRecord, "url" | "name" | "enabled_events">,
    also: readonly string[] = [],
  ): EndpointRecord => ({
    id: idOf([project, kind, fields.url, fields.name, ...also]),
    kind,
    source: "config",
    project,
    ...fields,
    description: "",
    state: "enabled",
    disabled_reason: "",
    created_at: now,
    updated_at: now,
  });
  const all: ConfiguredEndpoint[] = [
    ...webhooks.map(({ url, name, events, secret }) => ({
      record: record("standard", { url, name, enabled_events: events }),
      secret,
    })),
    ...(notify?.webhooks ?? []).map(({ url, on, secret }) => ({
      record: record("legacy", { url, name: "", enabled_events: typesOf(on) }, on),
      secret,
      on,
    })),
    ...(notify?.desktop
      ? [{ record: record("desktop", { url: "", name: "", enabled_events: typesOf(ALL) }), on: ALL }]
      : []),
  ];
  return new Map(all.map((each) => [each.record.id, each]));
}

const ALL: readonly NotifyEvent[] = ["approval", "completed", "failed"];

const typesOf = (on: readonly NotifyEvent[]): EndpointRecord["enabled_events"] => [
  ...(on.includes("approval") ? (["tandem.approval_requested"] as const) : []),
  ...(on.includes("completed") || on.includes("failed") ? (["session.status_idled"] as const) : []),
];

const idOf = (parts: readonly string[]): string =>
  `whep_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24)}`;
