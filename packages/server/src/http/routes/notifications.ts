import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";

const delivery = z
  .object({
    /** `desktop`, or the address without its query. */
    target: z.string(),
    delivered: z.boolean(),
    /** Why not. */
    detail: z.string().nullable(),
  })
  .meta({ id: "NotificationTest" });

export const notificationRoutes: Route[] = [
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
