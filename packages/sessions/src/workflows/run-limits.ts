import type { SessionEventBody, WorkflowRunError, WorkflowRunId, Clock } from "@tandem/protocol";

/** Runs of a session that may be open at the same time. */
export const MAX_OPEN_RUNS = 10;

const MAX_RUN_MS = 24 * 60 * 60 * 1_000;

const TIMEOUT: WorkflowRunError = { type: "timeout_error", message: "The run reached its time limit of 24 hours." };

export const TOO_MANY_RUNS: WorkflowRunError = {
  type: "max_workflow_runs_error",
  message: `The session has ${MAX_OPEN_RUNS} open workflow runs, which is the limit.`,
};

/** Ends workflow runs at their time limit. */
export class RunLimits {
  readonly #clock: Clock;
  readonly #end: (run: WorkflowRunId, error: WorkflowRunError) => void;
  readonly #timers = new Map<WorkflowRunId, () => void>();

  constructor(clock: Clock, end: (run: WorkflowRunId, error: WorkflowRunError) => void) {
    this.#clock = clock;
    this.#end = end;
  }

  observe(event: SessionEventBody): void {
    if (event.type === "workflow_run.created") {
      const { workflow_run_id: run } = event;
      this.#timers.set(
        run,
        this.#clock.after(MAX_RUN_MS, () => this.#end(run, TIMEOUT)),
      );
    }
    if (event.type === "workflow_run.status_ended") this.#clear(event.workflow_run_id);
  }

  /** The process has ended, and its runs with it. */
  clear(): void {
    for (const run of this.#timers.keys()) this.#clear(run);
  }

  #clear(run: WorkflowRunId): void {
    this.#timers.get(run)?.();
    this.#timers.delete(run);
  }
}
