import type { BackgroundTask } from "@tandem/protocol";
import { z } from "zod";
import { jsonRoute, type Route } from "../route.ts";
import { listOf } from "../schemas/page.ts";

const backgroundTask = z
  .object({
    id: z.string(),
    kind: z.string(),
    description: z.string(),
    status: z.string(),
    session_thread_id: z.string().optional(),
  })
  .meta({ id: "BackgroundTask" }) as unknown as z.ZodType<BackgroundTask>;

export const sessionTaskRoutes: Route[] = [
  jsonRoute({
    name: "sessions.tasks.list",
    method: "GET",
    path: "/v1/sessions/:session_id/tasks",
    scope: "read",
    at: "writer",
    extension: true,
    summary: "List the background tasks of a session",
    response: listOf(backgroundTask),
    handle: async ({ engine, params }) => ({ data: await engine.sessions.tasks(params.session_id) }),
  }),
  jsonRoute({
    name: "sessions.tasks.stop",
    method: "POST",
    path: "/v1/sessions/:session_id/tasks/:task_id/stop",
    scope: "run",
    at: "writer",
    extension: true,
    summary: "Stop a background task",
    response: z.object({ type: z.literal("background_task_stopped"), id: z.string() }),
    handle: async ({ engine, params }) => {
      await engine.sessions.stopTask(params.session_id, params.task_id);
      return { type: "background_task_stopped" as const, id: params.task_id };
    },
  }),
];
