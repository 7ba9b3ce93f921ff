import { DUE, recordPages, WEBHOOKS, type Records } from "@tandem/storage";
import { z } from "zod";
import { tryWrite } from "../host/until-written.ts";
import type { ConfiguredEndpoint } from "./configured-endpoints.ts";
import { dueKey, type DueDelivery } from "./delivery-record.ts";

/** The space in which 0.1.0 kept the deliveries that it would retry. */
const NOTIFICATIONS = "notifications";
const DAY_MS = 24 * 60 * 60_000;

/** Its key is `EVENT/HASH_OF_THE_URL`, which is also the delivery's id for the receiver. */
const dueNotification = z.object({
  url: z.string(),
  notification: z.looseObject({ type: z.string(), session_id: z.string() }),
  /** A day after its first attempt. */
  until: z.number(),
});

/**
 * Moves deliveries that 0.1.0 could not make yet into the queue of this version. A crash in between repeats a delivery, under
 * the same id. Those of another project's file stay for its server.
 */
export async function moveDueNotifications(
  records: Records,
  configured: ReadonlyMap<string, ConfiguredEndpoint>,
  now: number,
): Promise<void> {
  const legacy = [...configured.values()].filter(({ record }) => record.kind === "legacy");
  for await (const page of recordPages(records, NOTIFICATIONS, DUE)) {
    for (const { key, value } of page) {
      const due = dueNotification.safeParse(value);
      const endpoint = due.success ? legacy.find(({ record }) => record.url === due.data.url)?.record.id : undefined;
      const isOpen = due.success && due.data.until > now;
      if (isOpen && endpoint === undefined) continue;
      if (isOpen && endpoint !== undefined) await addDelivery(records, endpoint, key.split("/")[0]!, due.data);
      await records.write(NOTIFICATIONS, [{ type: "delete", kind: DUE, key }]);
    }
  }
}

async function addDelivery(
  records: Records,
  endpoint: string,
  event: string,
  { notification, until }: z.infer<typeof dueNotification>,
): Promise<void> {
  const value: DueDelivery = {
    announcement: {
      type: notification.type === "approval" ? "tandem.approval_requested" : "session.status_idled",
      id: notification.session_id,
      event_id: event,
    },
    created_at: new Date(until - DAY_MS).toISOString(),
    attempts: 0,
  };
  const put = { type: "put" as const, kind: DUE, key: dueKey(endpoint, 0, event), value, version: 0 };
  // Fails if it was moved before, by a process that then crashed, or by another one of the fleet.
  await tryWrite(records.write(WEBHOOKS, [put]));
}
