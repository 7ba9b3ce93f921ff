import type { EventId } from "../ids.ts";

// Workflow runs: background work of many agents that a session's agent starts. Declared for clients of Anthropic's API.

interface WorkflowRunError {
  type: "timeout_error" | "program_error" | "thread_limit_error" | "max_workflow_runs_error" | "unknown_error";
  message: string;
}

type WorkflowRunResult = { type: "completed" } | { type: "stopped" } | { type: "error"; error: WorkflowRunError };

interface WorkflowRunPhase {
  id: string;
  name: string;
  description: string | null;
}

export type WorkflowEventBody =
  | {
      type: "workflow_run.created";
      workflow_run_id: string;
      name: string;
      description: string | null;
      phases: WorkflowRunPhase[];
    }
  | { type: "workflow_run.status_running"; workflow_run_id: string }
  | { type: "workflow_run.status_idle"; workflow_run_id: string }
  | { type: "workflow_run.status_ended"; workflow_run_id: string; result: WorkflowRunResult }
  /** `workflow_run_id` is null if no run was created. */
  | { type: "workflow_run.error"; workflow_run_id: string | null; error: WorkflowRunError }
  | { type: "workflow_run.phase_started"; workflow_run_id: string; workflow_run_phase_id: string }
  | {
      type: "workflow_run.phase_ended";
      workflow_run_id: string;
      workflow_run_phase_id: string;
      phase_started_id: EventId;
    };
