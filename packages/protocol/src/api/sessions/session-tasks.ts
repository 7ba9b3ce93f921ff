import { z } from "zod";
import type { BackgroundTask } from "../../events/tandem-event.ts";
import { typed } from "../typed.ts";
import { listOf } from "../page.ts";

const backgroundTask = typed<BackgroundTask>(
  z
    .object({
      id: z.string(),
      kind: z.string(),
      description: z.string(),
      status: z.string(),
      session_thread_id: z.string().optional(),
      workflow_run_id: z.string().optional(),
    })
    .meta({ id: "BackgroundTask" }),
);

export const sessionTasksApi = {
  "sessions.tasks.list": { response: listOf(backgroundTask) },
  "sessions.tasks.stop": { response: z.object({ type: z.literal("background_task_stopped"), id: z.string() }) },
};
