import { z } from "zod";
import { described, event, eventId, openObject, workflowRunId, workflowRunPhaseId } from "./event-schema.ts";

// Workflow runs: background work of many agents that a session's agent starts.

const workflowRunError = openObject({
  type: z.enum(["timeout_error", "program_error", "thread_limit_error", "max_workflow_runs_error", "unknown_error"]),
  message: z.string(),
}).meta({ id: "WorkflowRunError" });
export type WorkflowRunError = z.infer<typeof workflowRunError>;

const workflowRunResult = z.discriminatedUnion("type", [
  openObject({ type: z.literal("completed") }),
  openObject({ type: z.literal("stopped") }),
  openObject({ type: z.literal("error"), error: workflowRunError }),
]);
export type WorkflowRunResult = z.infer<typeof workflowRunResult>;

/** How an agent of a workflow run is shown; on the event that creates its thread. */
export const workflowLeaf = openObject({
  label: described("The label that the plan gave it.", z.string()),
  phase_id: workflowRunPhaseId.optional(),
});
export type WorkflowLeaf = z.infer<typeof workflowLeaf>;

const run = { workflow_run_id: workflowRunId };

export const workflowEvents = {
  ...event("workflow_run.created", "The agent started a workflow run.", {
    ...run,
    name: z.string(),
    description: z.string().nullable(),
    phases: z.array(openObject({ id: workflowRunPhaseId, name: z.string(), description: z.string().nullable() })),
  }),
  ...event("workflow_run.status_running", "Agents of the run work.", run),
  ...event("workflow_run.status_idle", "No agent of the run works.", run),
  ...event("workflow_run.status_ended", "The run has ended.", { ...run, result: workflowRunResult }),
  ...event("workflow_run.error", "The run has failed, or could not be created.", {
    workflow_run_id: described("Null if no run was created.", workflowRunId.nullable()),
    error: workflowRunError,
    tandem: openObject({ detail: described("The plan's own error.", z.string()) }).optional(),
  }),
  ...event("workflow_run.phase_started", "A phase of the run has begun.", {
    ...run,
    workflow_run_phase_id: workflowRunPhaseId,
    tandem: described("A plan can enter a phase that it did not declare.", openObject({ name: z.string() }).optional()),
  }),
  ...event("workflow_run.phase_ended", "A phase of the run has ended.", {
    ...run,
    workflow_run_phase_id: workflowRunPhaseId,
    phase_started_id: eventId,
  }),
};
