import type { JobProgress } from "@tandem/protocol";
import { LeaseLost, type JobLease, type JobStore } from "@tandem/storage";
import type { RunEvent } from "./job-run.ts";

/** Seldom enough for the store, and often enough for a person. */
const FLUSH_MS = 200;

type Change = NonNullable<Parameters<JobStore["write"]>[2]>;

/** Writes a job's events to its log in batches. Of several progress events, only the last is kept. */
export class EventWriter {
  readonly #jobs: JobStore;
  readonly #lease: JobLease;
  readonly #onLost: (error: unknown) => void;
  readonly #progress: () => JobProgress;
  #waiting: RunEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    jobs: JobStore,
    lease: JobLease,
    parts: { progress: () => JobProgress; onLost: (error: unknown) => void },
  ) {
    this.#jobs = jobs;
    this.#lease = lease;
    this.#progress = parts.progress;
    this.#onLost = parts.onLost;
  }

  add(event: RunEvent): void {
    const key = topicOf(event);
    if (key !== undefined) this.#waiting = this.#waiting.filter((other) => topicOf(other) !== key);
    this.#waiting.push(event);
    this.#timer ??= setTimeout(() => {
      this.flush().catch(this.#onLost);
    }, FLUSH_MS);
  }

  /** Writes all waiting events together with a change of the job. */
  flush(change: Change = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const written = this.#writing.then(() => this.#write(change));
    this.#writing = written.catch(() => {});
    return written;
  }

  async #write(change: Change): Promise<void> {
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length === 0 && Object.keys(change).length === 0) return;
    try {
      await this.#jobs.write(this.#lease, events, { progress: this.#progress(), ...change });
    } catch (error) {
      // The store is temporarily unavailable: the next flush writes them.
      this.#waiting = [...events, ...this.#waiting];
      if (error instanceof LeaseLost || Object.keys(change).length > 0) throw error;
    }
  }
}

/** Later events with the same topic replace earlier ones. */
function topicOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case "stage_progress":
      return `progress ${event.stage}`;
    case "waiting":
      return `waiting ${event.reason}`;
    case "spent":
      return "spent";
    default:
      return undefined;
  }
}
