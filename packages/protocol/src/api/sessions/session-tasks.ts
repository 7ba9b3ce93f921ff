import { z } from "zod";
import type { ThreadId, WorkflowRunId } from "../../ids.ts";
import { typed } from "../typed.ts";
import { listOf } from "../page.ts";

export const backgroundTask = z
  .object({
    id: z.string(),
    /** `shell`, `subagent`, `workflow` or another kind that Claude Code names. */
    kind: z.string(),
    description: z.string(),
    status: z.string(),
    session_thread_id: typed<ThreadId>()(z.string()).optional(),
    workflow_run_id: typed<WorkflowRunId>()(z.string()).optional(),
  })
  .meta({ id: "BackgroundTask" });
export type BackgroundTask = z.infer<typeof backgroundTask>;

export const sessionTasksApi = {
  "sessions.tasks.list": { response: listOf(backgroundTask) },
  "sessions.tasks.stop": { response: z.object({ type: z.literal("background_task_stopped"), id: z.string() }) },
};
