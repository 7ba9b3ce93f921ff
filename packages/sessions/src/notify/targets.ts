import { createHash } from "node:crypto";
import { NOTIFY_EVENTS } from "@tandem/protocol";
import type { RecordChange, Store } from "@tandem/storage";
import { z } from "zod";
import type { NotifyEvent } from "./notification.ts";
import type { NotifySettings } from "./notify-settings.ts";
import type { Delivery } from "./send-webhook.ts";

export const SPACE = "notifications";
/** Pending deliveries, delivered keys (so that nothing is sent twice), and each target's last result. */
export const DUE = "due";
export const TOLD = "told";
const LAST = "last";
/** Above this number, the count is not exact. */
const MAX_COUNTED = 1_000;
const DESKTOP = "desktop";

/** A target and its last result. */
export interface NotifyTarget {
  /** `desktop`, or the URL without secret parts. */
  target: string;
  on: NotifyEvent[];
  signed: boolean;
  /** Deliveries to retry. */
  waiting: number;
  last: { at: string; delivered: boolean; detail: string | null } | null;
}

export async function listTargets(store: Store, { webhooks, desktop }: NotifySettings): Promise<NotifyTarget[]> {
  const due = await store.records.list(SPACE, DUE, { limit: MAX_COUNTED });
  const lastOf = async (key: string): Promise<NotifyTarget["last"]> => {
    const record = await store.records.get(SPACE, LAST, key);
    if (!record) return null;
    const { why } = z.object({ why: z.string().nullable() }).parse(record.value);
    return { at: record.updatedAt, delivered: why === null, detail: why };
  };
  return Promise.all([
    ...webhooks.map(async ({ url, on, secret }) => ({
      target: placeOf(url),
      on: [...on],
      signed: secret !== undefined,
      waiting: due.filter(({ key }) => key.endsWith(`/${keyOf(url)}`)).length,
      last: await lastOf(keyOf(url)),
    })),
    ...(desktop
      ? [lastOf(DESKTOP).then((last) => ({ target: DESKTOP, on: [...NOTIFY_EVENTS], signed: false, waiting: 0, last }))]
      : []),
  ]);
}

/** The key of a target's last result; without a URL, the desktop. */
export const lastDelivery = (delivery: Delivery, url?: string): RecordChange => ({
  type: "put",
  kind: LAST,
  key: url === undefined ? DESKTOP : keyOf(url),
  value: { why: delivery.type === "delivered" ? null : delivery.why },
});

export const keyOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);

/** Removes secret parts of a URL: its query and key-like segments. */
export const placeOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(/[^/]{20,}/g, "…");
};
