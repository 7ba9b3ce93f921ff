import { jsonRoute, type Route } from "../../route.ts";

export const notificationRoutes: Route[] = [
  jsonRoute("notifications.list", {
    scope: "admin",
    at: "here",
    summary: "List the targets of `notify` with their events and their last delivery",
    handle: async ({ engine }) => ({ data: await engine.notifications.list() }),
  }),
  jsonRoute("notifications.test", {
    scope: "admin",
    at: "here",
    summary: "Send a test to every webhook and to the desktop, as `notify` names them",
    handle: async ({ engine }) => ({ data: await engine.notifications.test() }),
  }),
];
