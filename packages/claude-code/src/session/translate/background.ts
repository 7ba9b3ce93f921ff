import type {
  SDKBackgroundTasksChangedMessage,
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
} from "@anthropic-ai/claude-agent-sdk";
import type { BackgroundTask } from "@tandem/protocol";
import type { Emit } from "./emit.ts";
import type { Threads } from "./subagent-threads.ts";

const KINDS: Record<string, string> = { local_bash: "shell", local_agent: "subagent" };

/** Background tasks; the whole list is emitted on every change. */
export class Background {
  readonly #emit: Emit;
  readonly #threads: Threads;
  #tasks: BackgroundTask[] = [];

  constructor(emit: Emit, threads: Threads) {
    this.#emit = emit;
    this.#threads = threads;
  }

  get running(): boolean {
    return this.#tasks.length > 0;
  }

  changed({ tasks }: SDKBackgroundTasksChangedMessage): void {
    this.#tasks = tasks
      .filter(({ ambient }) => !ambient)
      .map(({ task_id, task_type, description }) => ({
        id: task_id,
        kind: KINDS[task_type] ?? task_type,
        description,
        status: "running",
        ...this.#thread(task_id),
      }));
    this.#tell();
  }

  /** A subagent's thread may become known after its task. */
  started({ task_id }: SDKTaskStartedMessage): void {
    const task = this.#tasks.find(({ id }) => id === task_id);
    const thread = this.#thread(task_id);
    if (!task || !thread.session_thread_id || task.session_thread_id) return;
    Object.assign(task, thread);
    this.#tell();
  }

  /** Emitted once with its final status; the next change omits it. */
  ended({ task_id, status }: SDKTaskNotificationMessage): void {
    const task = this.#tasks.find(({ id }) => id === task_id);
    if (!task) return;
    task.status = status;
    this.#tell();
  }

  #thread(taskId: string): Pick<BackgroundTask, "session_thread_id"> {
    const thread = this.#threads.ofTask(taskId);
    return thread ? { session_thread_id: thread } : {};
  }

  #tell(): void {
    this.#emit.put({ type: "background", tasks: this.#tasks.map((task) => ({ ...task })) });
  }
}
