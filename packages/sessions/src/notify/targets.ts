import { createHash } from "node:crypto";
import { NOTIFY_EVENTS } from "@tandem/protocol";
import type { RecordChange, Store } from "@tandem/storage";
import { z } from "zod";
import type { NotifyEvent } from "./notification.ts";
import type { NotifySettings } from "./notify-settings.ts";
import type { Delivery } from "./send-webhook.ts";

export const SPACE = "notifications";
/** What is to be delivered, what was told, so that nothing is told twice, and how each target took it the last time. */
export const DUE = "due";
export const TOLD = "told";
const LAST = "last";
/** Who has more to catch up with than that is not told the exact number. */
const MOST_DUE = 1_000;
const DESKTOP = "desktop";

/** Somebody who is told, and how that went the last time. */
export interface NotifyTarget {
  /** `desktop`, or the address without what may be secret in it. */
  target: string;
  on: NotifyEvent[];
  signed: boolean;
  /** What is tried again. */
  waiting: number;
  last: { at: string; delivered: boolean; detail: string | null } | null;
}

export async function listTargets(store: Store, { webhooks, desktop }: NotifySettings): Promise<NotifyTarget[]> {
  const due = await store.records.list(SPACE, DUE, { limit: MOST_DUE });
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

/** Under which it is remembered how a target took something; without an address, the desktop. */
export const lastDelivery = (delivery: Delivery, url?: string): RecordChange => ({
  type: "put",
  kind: LAST,
  key: url === undefined ? DESKTOP : keyOf(url),
  value: { why: delivery.type === "delivered" ? null : delivery.why },
});

export const keyOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);

/** An address without what may be secret in it: its query, and what is as long as a key. */
export const placeOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(/[^/]{20,}/g, "…");
};
