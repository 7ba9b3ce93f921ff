import { RequestError, type BackgroundTask } from "@tandem/protocol";
import { Timer } from "../host/timer.ts";
import type { SessionWriter } from "../log/session-writer.ts";

/** How long after its last background task Claude may take to go on because of it. */
const SETTLE_MS = 1_500;

/** What a session's process does in the background, as the log is told of it. */
export class BackgroundTasks {
  readonly #writer: SessionWriter;
  readonly #settling = new Timer();
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

  /** Once all have ended, and Claude had the time to go on because of that. Keeps the process alive until then. */
  settle(ring: () => void): void {
    if (!this.any) this.#settling.set(SETTLE_MS, ring, true);
  }

  /** Claude goes on, or there is nothing left to settle. */
  unsettle(): void {
    this.#settling.clear();
  }

  mustHave(id: string): void {
    if (this.#running.some((task) => task.id === id)) return;
    throw new RequestError("not_found", `The session has no background task ${id}.`);
  }
}
