import { jsonRoute, type Route } from "../../route.ts";

export const notificationRoutes: Route[] = [
  jsonRoute("notifications.list", {
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Who is told, as `notify` names them, of what, and how that went the last time",
    handle: async ({ engine }) => ({ data: await engine.notifications.list() }),
  }),
  jsonRoute("notifications.test", {
    scope: "admin",
    at: "here",
    extension: true,
    summary: "Send a test to every webhook and to the desktop, as `notify` names them",
    handle: async ({ engine }) => ({ data: await engine.notifications.test() }),
  }),
];
