import { NOTIFY_EVENTS } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";

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

export const notificationRoutes: Route[] = [
  jsonRoute({
    name: "notifications.list",
    method: "GET",
    path: "/v1/notifications",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Who is told, as `notify` names them, of what, and how that went the last time",
    response: z.object({ data: z.array(told) }),
    handle: async ({ engine }) => ({ data: await engine.notifications.list() }),
  }),
  jsonRoute({
    name: "notifications.test",
    method: "POST",
    path: "/v1/notifications/test",
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Send a test to every webhook and to the desktop, as `notify` names them",
    response: z.object({ data: z.array(delivery) }),
    handle: async ({ engine }) => ({ data: await engine.notifications.test() }),
  }),
];
