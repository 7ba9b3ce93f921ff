import { jsonRoute, type Route } from "../../route.ts";

export const sessionTaskRoutes: Route[] = [
  jsonRoute("sessions.tasks.list", {
    scope: "read",
    at: "writer",
    summary: "List the background tasks of a session",
    handle: async ({ engine, params }) => ({ data: await engine.sessions.tasks(params.session_id) }),
  }),
  jsonRoute("sessions.tasks.stop", {
    scope: "run",
    at: "writer",
    summary: "Stop a background task",
    handle: async ({ engine, params }) => {
      await engine.sessions.stopTask(params.session_id, params.task_id);
      return { type: "background_task_stopped" as const, id: params.task_id };
    },
  }),
];
