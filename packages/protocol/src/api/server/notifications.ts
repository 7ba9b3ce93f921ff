import { z } from "zod";
import { NOTIFY_EVENTS } from "../../config/control-config.ts";

/** `desktop`, or the URL without secret parts. */
const target = z.string();

const delivery = z
  .object({
    target,
    delivered: z.boolean(),
    /** The reason for the failure. */
    detail: z.string().nullable(),
  })
  .meta({ id: "NotificationTest" });

const notificationTarget = z
  .object({
    target,
    on: z.array(z.enum(NOTIFY_EVENTS)),
    signed: z.boolean(),
    /** Undelivered notifications that will be retried. */
    waiting: z.int(),
    /** The last delivery attempt; null if there was none. */
    last: z.object({ at: z.string(), delivered: z.boolean(), detail: z.string().nullable() }).nullable(),
  })
  .meta({ id: "NotificationTarget" });
export type NotificationTarget = z.infer<typeof notificationTarget>;

export const notificationsApi = {
  "notifications.list": { response: z.object({ data: z.array(notificationTarget) }) },
  "notifications.test": { response: z.object({ data: z.array(delivery) }) },
};
