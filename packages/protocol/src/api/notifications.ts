import { z } from "zod";
import { NOTIFY_EVENTS } from "../config/control-config.ts";

/** `desktop`, or the address without what may be secret in it. */
const target = z.string();

const delivery = z
  .object({
    target,
    delivered: z.boolean(),
    /** Why not. */
    detail: z.string().nullable(),
  })
  .meta({ id: "NotificationTest" });

const told = z
  .object({
    target,
    on: z.array(z.enum(NOTIFY_EVENTS)),
    signed: z.boolean(),
    /** What could not be delivered yet, and is tried again. */
    waiting: z.int(),
    /** The last time that something was sent there; null if nothing was. */
    last: z.object({ at: z.string(), delivered: z.boolean(), detail: z.string().nullable() }).nullable(),
  })
  .meta({ id: "NotificationTarget" });
export type NotificationTarget = z.infer<typeof told>;

export const notificationsApi = {
  "notifications.list": {
    response: z.object({ data: z.array(told) }),
  },
  "notifications.test": {
    response: z.object({ data: z.array(delivery) }),
  },
};
