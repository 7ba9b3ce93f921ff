import type {
  SDKBackgroundTasksChangedMessage,
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
} from "@anthropic-ai/claude-agent-sdk";
import type { BackgroundTask } from "@tandem/protocol";
import type { Emit } from "./emit.ts";
import type { Threads } from "./subagent-threads.ts";
import type { WorkflowRuns } from "./workflow-runs.ts";

const KINDS: Record<string, string> = { local_bash: "shell", local_agent: "subagent", local_workflow: "workflow" };

/** Background tasks; the whole list is emitted on every change. */
export class Background {
  readonly #emit: Emit;
  readonly #threads: Threads;
  readonly #runs: WorkflowRuns;
  #tasks: BackgroundTask[] = [];

  constructor(emit: Emit, threads: Threads, runs: WorkflowRuns) {
    this.#emit = emit;
    this.#threads = threads;
    this.#runs = runs;
  }

  changed({ tasks }: SDKBackgroundTasksChangedMessage): void {
    this.#tasks = tasks
      .filter(({ ambient }) => !ambient)
      .map(({ task_id, task_type, description }) => ({
        id: task_id,
        kind: KINDS[task_type] ?? task_type,
        description,
        status: "running",
        ...this.#of(task_id),
      }));
    this.#tell();
  }

  /** A subagent's thread, or a workflow run, may become known after its task. */
  started({ task_id }: SDKTaskStartedMessage): void {
    const task = this.#tasks.find(({ id }) => id === task_id);
    const known = this.#of(task_id);
    if (!task || Object.keys(known).length === 0 || task.session_thread_id || task.workflow_run_id) return;
    Object.assign(task, known);
    this.#tell();
  }

  /** Emitted once with its final status; the next change omits it. */
  ended({ task_id, status }: SDKTaskNotificationMessage): void {
    const task = this.#tasks.find(({ id }) => id === task_id);
    if (!task) return;
    task.status = status;
    this.#tell();
  }

  #of(taskId: string): Pick<BackgroundTask, "session_thread_id" | "workflow_run_id"> {
    const thread = this.#threads.ofTask(taskId);
    const run = this.#runs.ofTask(taskId);
    return { ...(thread && { session_thread_id: thread }), ...(run && { workflow_run_id: run }) };
  }

  #tell(): void {
    this.#emit.put({ type: "background", tasks: this.#tasks.map((task) => ({ ...task })) });
  }
}
