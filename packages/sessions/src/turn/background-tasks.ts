import { RequestError, type BackgroundTask, type WorkflowRunResult, type Clock } from "@tandem/protocol";
import { Timer } from "../host/timer.ts";
import type { SessionWriter } from "../log/session-writer.ts";

/** How long Claude may take to continue after its last background task has completed. */
const SETTLE_MS = 1_500;

/** The background tasks of a session's process, and their events in the log. */
export class BackgroundTasks {
  readonly #writer: SessionWriter;
  readonly #settling: Timer;
  #running: BackgroundTask[] = [];

  constructor(writer: SessionWriter, clock: Clock) {
    this.#writer = writer;
    this.#settling = new Timer(clock);
  }

  get running(): readonly BackgroundTask[] {
    return this.#running;
  }

  get any(): boolean {
    return this.#running.length > 0;
  }

  set(tasks: BackgroundTask[]): void {
    this.#running = tasks.filter(({ status }) => status === "running");
    void this.#writer.write([{ type: "tandem.background", tasks }]);
  }

  /** The process has ended, and its tasks with it. Workflow runs get this result. */
  end(result: WorkflowRunResult): void {
    const closings = this.#writer.runs.closings(result);
    if (closings.length > 0) void this.#writer.write(closings);
    if (this.any) this.set(this.#running.map((task) => ({ ...task, status: "stopped" })));
  }

  /** Calls back once no task is left and Claude had time to continue. The timer keeps the process alive. */
  settle(callback: () => void): void {
    if (!this.any) this.#settling.set(SETTLE_MS, callback, { keepsProcess: true });
  }

  /** Claude continues, or the turn has ended. */
  unsettle(): void {
    this.#settling.clear();
  }

  mustHave(id: string): void {
    if (this.#running.some((task) => task.id === id)) return;
    throw new RequestError("not_found", `The session has no background task ${id}.`);
  }
}
