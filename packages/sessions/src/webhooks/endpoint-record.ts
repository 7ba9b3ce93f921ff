import { lastDelivery, WEBHOOK_EVENTS, webhookEndpoint } from "@tandem/protocol";
import { sealedSecret, WANTED, type RecordChange } from "@tandem/storage";
import { z } from "zod";

export const ENDPOINT = "endpoint";
/** Signing secrets are records of their own, so that no list of endpoints contains them. */
export const SECRET = "secret";
/** The last result of an endpoint, and its last success. */
export const STATUS = "status";
export const SUCCESS = "success";

const endpointRecord = z.object({
  id: z.string(),
  /**
   * - `standard`: Anthropic's body and the signature of Standard Webhooks;
   * - `legacy`: an entry of `notify.webhooks`, with the body and signature of version 0.1;
   * - `desktop`: notifications on the desktop of this machine.
   */
  kind: z.enum(["standard", "legacy", "desktop"]),
  /** `config` endpoints are managed by the file: only their state can be changed elsewhere. */
  source: webhookEndpoint.shape.tandem.shape.source,
  /** The project whose file names it. */
  project: z.string().nullable(),
  ...webhookEndpoint.omit({ tandem: true, id: true }).shape,
});
export type EndpointRecord = z.infer<typeof endpointRecord>;

export const readEndpoint = (value: unknown): EndpointRecord => endpointRecord.parse(value);

const secretRecord = z.object({
  current: sealedSecret,
  /** The former secret also signs until then, so that a receiver can be changed without a gap. */
  previous: z.object({ secret: sealedSecret, until: z.number() }).optional(),
});
export type SecretRecord = z.infer<typeof secretRecord>;
export const readSecretRecord = (value: unknown): SecretRecord => secretRecord.parse(value);

export type EndpointStatus = z.infer<typeof lastDelivery>;
const successRecord = z.object({ at: z.number() });
export const readSuccess = (value: unknown) => successRecord.parse(value);

export const readStatus = (value: unknown): EndpointStatus => lastDelivery.parse(value);

const wantedBy = (endpoint: EndpointRecord | undefined): ReadonlySet<string> =>
  new Set(endpoint?.state === "enabled" ? endpoint.enabled_events : []);

/** The write of an endpoint together with the index by which storage finds who wants an announcement. */
export function endpointChanges(
  before: { endpoint: EndpointRecord; version: number } | undefined,
  after: EndpointRecord,
): RecordChange[] {
  const [had, has] = [wantedBy(before?.endpoint), wantedBy(after)];
  const key = (type: string) => ({ kind: WANTED, key: `${type}/${after.id}` });
  return [
    { type: "put", kind: ENDPOINT, key: after.id, value: after, version: before?.version ?? 0 },
    ...[...has].filter((type) => !had.has(type)).map((type) => ({ type: "put" as const, ...key(type), value: null })),
    ...[...had].filter((type) => !has.has(type)).map((type) => ({ type: "delete" as const, ...key(type) })),
  ];
}

export function endpointRemoval({ id }: EndpointRecord): RecordChange[] {
  return [
    // All types, not only the current ones: a delete of an absent record does nothing.
    ...WEBHOOK_EVENTS.map((type) => ({ type: "delete" as const, kind: WANTED, key: `${type}/${id}` })),
    ...[ENDPOINT, SECRET, STATUS, SUCCESS].map((kind) => ({ type: "delete" as const, kind, key: id })),
  ];
}
