import type { EventId, WorkflowRunId, WorkflowRunPhaseId } from "../ids.ts";

// Workflow runs: background work of many agents that a session's agent starts.

export interface WorkflowRunError {
  type: "timeout_error" | "program_error" | "thread_limit_error" | "max_workflow_runs_error" | "unknown_error";
  message: string;
}

export type WorkflowRunResult =
  | { type: "completed" }
  | { type: "stopped" }
  | { type: "error"; error: WorkflowRunError };

interface WorkflowRunPhase {
  id: WorkflowRunPhaseId;
  name: string;
  description: string | null;
}

/** How an agent of a workflow run is shown; on the event that creates its thread. */
export interface WorkflowLeaf {
  /** The label that the plan gave it. */
  label: string;
  phase_id?: WorkflowRunPhaseId;
}

export type WorkflowEventBody =
  | {
      type: "workflow_run.created";
      workflow_run_id: WorkflowRunId;
      name: string;
      description: string | null;
      phases: WorkflowRunPhase[];
    }
  | { type: "workflow_run.status_running"; workflow_run_id: WorkflowRunId }
  | { type: "workflow_run.status_idle"; workflow_run_id: WorkflowRunId }
  | { type: "workflow_run.status_ended"; workflow_run_id: WorkflowRunId; result: WorkflowRunResult }
  /** `workflow_run_id` is null if no run was created. */
  | {
      type: "workflow_run.error";
      workflow_run_id: WorkflowRunId | null;
      error: WorkflowRunError;
      /** The plan's own error. */
      tandem?: { detail: string };
    }
  | {
      type: "workflow_run.phase_started";
      workflow_run_id: WorkflowRunId;
      workflow_run_phase_id: WorkflowRunPhaseId;
      /** A plan can enter a phase that it did not declare. */
      tandem?: { name: string };
    }
  | {
      type: "workflow_run.phase_ended";
      workflow_run_id: WorkflowRunId;
      workflow_run_phase_id: WorkflowRunPhaseId;
      phase_started_id: EventId;
    };
