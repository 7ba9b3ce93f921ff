import type {
  EventId,
  SessionAgent,
  SessionEvent,
  SessionEventBody,
  SessionId,
  ThreadId,
  WorkflowRunError,
  WorkflowRunId,
  WorkflowRunPhaseId,
  WorkflowRunResult,
} from "@tandem/protocol";
import { logEvents, type EventLog } from "@tandem/storage";

interface OpenRun {
  /** The event that opened each open phase. */
  phases: Map<WorkflowRunPhaseId, EventId>;
  /** Names of the agents at work, by thread. */
  leaves: Map<ThreadId, string>;
}

/** The workflow runs of a session that have not ended, built from its events. */
export class OpenRuns {
  readonly #runs = new Map<WorkflowRunId, OpenRun>();

  get size(): number {
    return this.#runs.size;
  }

  has(run: string | undefined): boolean {
    return this.#runs.has(run as WorkflowRunId);
  }

  note(event: SessionEvent): void {
    switch (event.type) {
      case "workflow_run.created":
        this.#runs.set(event.workflow_run_id, { phases: new Map(), leaves: new Map() });
        return;
      case "workflow_run.phase_started":
        this.#runs.get(event.workflow_run_id)?.phases.set(event.workflow_run_phase_id, event.id);
        return;
      case "workflow_run.phase_ended":
        this.#runs.get(event.workflow_run_id)?.phases.delete(event.workflow_run_phase_id);
        return;
      case "workflow_run.status_ended":
        this.#runs.delete(event.workflow_run_id);
        return;
      case "session.thread_created":
        if (event.workflow_run_id !== null)
          this.#runs.get(event.workflow_run_id)?.leaves.set(event.session_thread_id, event.agent_name);
        return;
      case "session.thread_status_idle":
        for (const { leaves } of this.#runs.values()) leaves.delete(event.session_thread_id);
        return;
      default:
    }
  }

  /** The events that end every open run. */
  closings(result: WorkflowRunResult): SessionEventBody[] {
    return [...this.#runs].flatMap(([id, { phases, leaves }]) => [
      ...[...leaves].map(([session_thread_id, agent_name]) => ({
        type: "session.thread_status_idle" as const,
        session_thread_id,
        agent_name,
        stop_reason: { type: "end_turn" as const },
        stop_details: null,
      })),
      ...[...phases].map(([workflow_run_phase_id, phase_started_id]) => ({
        type: "workflow_run.phase_ended" as const,
        workflow_run_id: id,
        workflow_run_phase_id,
        phase_started_id,
      })),
      ...(result.type === "error"
        ? [{ type: "workflow_run.error" as const, workflow_run_id: id, error: result.error }]
        : []),
      { type: "workflow_run.status_ended" as const, workflow_run_id: id, result },
    ]);
  }
}

const unknownError = (message: string): WorkflowRunResult => ({
  type: "error",
  error: { type: "unknown_error", message } satisfies WorkflowRunError,
});

/** A run cannot be continued by another process. */
export const RUN_LOST = unknownError("The Claude Code process ended before the run did.");
export const RUN_AT_LIMIT = unknownError("The session reached a limit.");
export const RUN_STOPPED: WorkflowRunResult = { type: "stopped" };

/** The longest list of runs that is searched for open ones: a session has at most 10 at a time. */
const RECENT = 200;

const TYPES = [
  "workflow_run.created",
  "workflow_run.phase_started",
  "workflow_run.phase_ended",
  "workflow_run.status_ended",
  "session.thread_created",
  "session.thread_status_idle",
] as const;

/** Reads the runs that a former writer left open. */
export async function readOpenRuns(
  log: EventLog,
  { id, agent }: { id: SessionId; agent: SessionAgent },
): Promise<OpenRuns> {
  const runs = new OpenRuns();
  if (!workflowsOf(agent)) return runs;
  const types = ["workflow_run.created", "workflow_run.status_ended"];
  const recent = await log.read(id, { order: "desc", limit: RECENT, types });
  for (const { event } of recent.toReversed()) runs.note(event);
  const first = recent.findLast(
    ({ event }) => event.type === "workflow_run.created" && runs.has(event.workflow_run_id),
  );
  if (!first) return runs;
  const open = new OpenRuns();
  for await (const { event } of logEvents(log, id, { after: first.seq - 1, types: TYPES })) open.note(event);
  return open;
}

/** The agent's settings for workflow runs; undefined if it cannot start any. */
export function workflowsOf({ multiagent }: SessionAgent) {
  if (multiagent?.type !== "multiagent_20261001") return undefined;
  return multiagent.workflows.type === "enabled" ? multiagent.workflows : undefined;
}
