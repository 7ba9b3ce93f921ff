import { randomUUID } from "node:crypto";
import type { Tell } from "./own-steps.ts";
import type { ToolRequest } from "./tool-runner.ts";

/** A subagent in the background. */
export interface TaskHandle {
  id: string;
  /** Takes the function that tells the subagent's end. */
  onEnd: (end: () => void) => void;
}

export const newTaskId = (): string => `agent${randomUUID().slice(0, 8)}`;

interface Task {
  id: string;
  type: "local_agent" | "local_bash";
  description: string;
  /** Resolves when the task has done its work. */
  done: Promise<void>;
  /** Tells its end. */
  end: () => void;
}

/** Tasks in the background of a conversation. They end only when told to, so that a replay decides when Claude learns of it. */
export class EmulatedTasks {
  readonly #tell: Tell;
  #tasks: Task[] = [];

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  get any(): boolean {
    return this.#tasks.length > 0;
  }

  startShell(call: ToolRequest): void {
    const id = newTaskId();
    const end = (): void =>
      this.#tell({ type: "system", subtype: "task_notification", task_id: id, status: "completed", summary: "" });
    this.#start({ id, type: "local_bash", description: describe(call), done: Promise.resolve(), end });
  }

  startSubagent(call: ToolRequest, run: (task: TaskHandle) => Promise<unknown>): void {
    const id = newTaskId();
    let tellEnd = (): void => undefined;
    const handle = { id, onEnd: (end: () => void): void => void (tellEnd = end) };
    const done = Promise.withResolvers<void>();
    this.#start({ id, type: "local_agent", description: describe(call), done: done.promise, end: () => tellEnd() });
    // Its messages follow the one that announces the task. Its failure is part of what it tells.
    run(handle)
      .catch(() => undefined)
      .finally(done.resolve);
  }

  #start(task: Task): void {
    this.#tasks.push(task);
    this.#tellAll();
  }

  /** Ends the task that began first. */
  async endFirst(): Promise<void> {
    const [task] = this.#tasks;
    if (!task) return;
    await task.done;
    task.end();
    this.#tasks = this.#tasks.filter((each) => each !== task);
    this.#tellAll();
  }

  async endAll(): Promise<void> {
    while (this.any) await this.endFirst();
  }

  forget(): void {
    this.#tasks = [];
  }

  #tellAll(): void {
    const tasks = this.#tasks.map(({ id, type, description }) => ({ task_id: id, task_type: type, description }));
    this.#tell({ type: "system", subtype: "background_tasks_changed", tasks });
  }
}

function describe({ name, input }: ToolRequest): string {
  const text = input["description"] ?? input["command"];
  return typeof text === "string" ? text : name;
}
