import { type Job, type JobId, RequestError, type RunEvent, sleep, systemClock } from "@tandem/protocol";
import type { JobStore } from "@tandem/storage";
import type { ServerInfo } from "@tandem/tandem/server";
import { DEADLINE_MS, ServerConnection } from "../sessions/server-connection.ts";

export interface LoggedEvent {
  seq: number;
  /** Another version may have written an event that this one does not know. */
  event: RunEvent | { type: string };
}

/** The log of a job: in the store, or behind the server that runs the job. */
export interface JobLog {
  events(job: JobId, range: { after: number; limit: number }): Promise<LoggedEvent[]>;
  /**
   * Passes stored events after `after` to `onEvent`, then live ones. Ends when the job has ended or was deleted, or when the
   * signal aborts.
   */
  follow(job: JobId, after: number, signal: AbortSignal, onEvent: (logged: LoggedEvent) => void): Promise<void>;
}

export const storedJobLog = (jobs: Pick<JobStore, "events" | "follow">): JobLog => ({
  events: (job, range) => jobs.events(job, range),
  async follow(job, after, signal, onEvent) {
    for await (const events of jobs.follow(job, after, signal)) events.forEach(onEvent);
  },
});

/** The jobs of a running server. If the server is restarted, reads go on with its successor. */
export class ServerJobs implements JobLog, Disposable {
  readonly #find: () => Promise<ServerInfo | undefined>;
  #server: ServerInfo;
  #connection: ServerConnection;

  private constructor(server: ServerInfo, connection: ServerConnection, find: () => Promise<ServerInfo | undefined>) {
    this.#server = server;
    this.#connection = connection;
    this.#find = find;
  }

  /** `find` returns the server that runs now. */
  static async open(server: ServerInfo, find: () => Promise<ServerInfo | undefined>): Promise<ServerJobs> {
    return new ServerJobs(server, await ServerConnection.open(server), find);
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  /** Undefined if it was deleted. */
  async get(id: string, signal?: AbortSignal): Promise<Job | undefined> {
    const params = { job_id: id };
    return this.#connection.api.call("jobs.retrieve", { params, ...(signal && { signal }) }).catch((error: unknown) => {
      if (error instanceof RequestError && error.code === "not_found") return undefined;
      throw error;
    });
  }

  async events(job: JobId, { after, limit }: { after: number; limit: number }): Promise<LoggedEvent[]> {
    const query = { limit, page: String(after) };
    return (await this.#connection.api.call("jobs.events.list", { params: { job_id: job }, query })).data;
  }

  async follow(job: JobId, after: number, signal: AbortSignal, onEvent: (logged: LoggedEvent) => void): Promise<void> {
    let last = after;
    for (;;) {
      const stop = new AbortController();
      let isOver = false;
      let isBroken = false;
      await this.#connection.api.follow("jobs.events.stream", {
        params: { job_id: job },
        from: String(last),
        signal: AbortSignal.any([signal, stop.signal]),
        onFrame: ({ data }) => {
          last = data.seq;
          onEvent(data);
        },
        onError: () => {
          isBroken = true;
        },
        // Called between two connections. The server ends the stream of a job that has ended.
        rest: async (ms, resting) => {
          isOver = await this.#isOver(job, isBroken, resting);
          isBroken = false;
          if (isOver || (await this.#moved().catch(() => false))) stop.abort();
          else await sleep(systemClock, ms, { signal: resting, keepsProcess: true });
        },
      });
      if (isOver || signal.aborted) return;
    }
  }

  /** A broken connection may have lost the last events of an ended job: the next one delivers them. */
  async #isOver(id: JobId, isBroken: boolean, signal: AbortSignal): Promise<boolean> {
    try {
      const job = await this.get(id, AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]));
      return job === undefined || (!isBroken && job.ended_at !== null);
    } catch {
      // The server cannot answer now. `follow` tries again.
      return false;
    }
  }

  /** Connects to another server if one has replaced this one. Rejects if that cannot be reached yet. */
  async #moved(): Promise<boolean> {
    const found = await this.#find();
    if (!found || (found.pid === this.#server.pid && found.process_start === this.#server.process_start)) return false;
    const connection = await ServerConnection.open(found);
    this.#connection[Symbol.dispose]();
    this.#server = found;
    this.#connection = connection;
    return true;
  }
}
