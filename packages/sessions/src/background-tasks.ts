import { RequestError, type BackgroundTask } from "@tandem/protocol";
import type { SessionWriter } from "./session-writer.ts";

/** What a session's process does in the background, as the log is told of it. */
export class BackgroundTasks {
  readonly #writer: SessionWriter;
  #running: BackgroundTask[] = [];

  constructor(writer: SessionWriter) {
    this.#writer = writer;
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

  /** They go with their process. */
  end(): void {
    if (this.any) this.set(this.#running.map((task) => ({ ...task, status: "stopped" })));
  }

  mustHave(id: string): void {
    if (this.#running.some((task) => task.id === id)) return;
    throw new RequestError("not_found", `The session has no background task ${id}.`);
  }
}
