import { nearest, RequestError, type JobId } from "@tandem/protocol";
import { createEmbeddedQueue, jobRun, type RunQueue } from "@tandem/queue";
import { DEFAULT_TENANT, type JobRow } from "@tandem/storage";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { awaitCancelled, cancelJob, endCancelled } from "./cancel-job.ts";
import { type JobCaller, JobWorker, type JobWorkerOptions } from "./job-worker.ts";
import { anotherRuns, findOrCreateJob } from "./waiting-jobs.ts";

/** Maximum wait for the start of a job that is queued behind others. */
const START_MS = 5_000;
/** How often the store is asked whether another process has started a job. */
const LOOK_MS = 100;

export interface JobRunnerOptions extends JobWorkerOptions {
  /** The queue of a fleet. Without it, the runner has a queue of its own, in memory. */
  fleet?: { queue: RunQueue; tenant: string } | undefined;
}

/** Background jobs of a context. They are sent to the queue, and run by this process or another worker of the fleet. */
export class JobRunner implements AsyncDisposable {
  readonly #options: JobRunnerOptions;
  readonly queue: RunQueue;
  readonly #tenant: string;
  readonly #worker: JobWorker;
  readonly #stop = new AbortController();
  readonly #background = new Set<Promise<unknown>>();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.queue = options.fleet?.queue ?? createEmbeddedQueue();
    this.#tenant = options.fleet?.tenant ?? DEFAULT_TENANT;
    this.#worker = new JobWorker(options, this.queue, this.#tenant);
    // In a fleet, only processes that resume jobs run any.
    if (!options.fleet) this.#worker.work();
  }

  get kinds(): string[] {
    return Object.keys(this.#options.kinds);
  }

  /**
   * Takes all jobs of all or the given kinds from now on, and sends unfinished ones to the queue again. If the run of a
   * kind is a dead letter, its jobs wait until it is requeued.
   */
  async resume(wanted: readonly string[] = this.kinds): Promise<void> {
    const { store, space, holder } = this.#options;
    this.#worker.adopt(wanted);
    await endCancelled(store.jobs, space, holder);
    const { data: held } = await store.jobs.list({ space, states: ["queued", "running"], limit: 100 });
    const unfinished = new Set([...(await store.jobs.waiting(space)), ...held].map(({ kind }) => kind));
    const runs = this.kinds
      .filter((kind) => wanted.includes(kind) && unfinished.has(kind))
      .map((kind) => this.#runOf(kind));
    if (runs.length === 0) return;
    const dead = new Set((await this.queue.dead()).map(({ run }) => run.key));
    for (const run of runs) if (!dead.has(run.key)) await this.queue.send(run);
  }

  /** Takes no more jobs. Running ones continue. */
  pause(): Promise<void> {
    return this.#worker.pause();
  }

  /**
   * Starts a job in the background, or resumes an unfinished one with the same params. Resolves with its row once it
   * runs, or while it is still `queued` if that takes long. A second job of a kind is refused, unless it may wait.
   */
  async start(kind: string, given: unknown, { mayWait = false }: { mayWait?: boolean } = {}): Promise<JobRow> {
    const { store, fleet } = this.#options;
    const begun = Promise.withResolvers<void>();
    // The worker may refuse the job before this call waits for it.
    begun.promise.catch(() => {});
    const onBegun = () => begun.resolve();
    const caller = { mayWait, onStart: onBegun, onEnd: onBegun, onError: begun.reject };
    const id = await this.#submit(kind, given, caller);
    try {
      await this.#awaitStart(id, begun.promise);
    } finally {
      // A worker of the fleet runs it, whether or not this process waits for that.
      if (fleet) this.#worker.callers.delete(id);
    }
    const row = await store.jobs.get(id);
    if (!row) throw new RequestError("not_found", `The job ${id} was deleted as it began.`);
    return row;
  }

  /** Runs a job to its end and returns its row. Rejects if it cannot begin, or if `signal` interrupts it. */
  async run(
    kind: string,
    given: unknown,
    { signal, onStart }: { signal?: AbortSignal | undefined; onStart: (job: JobId) => void },
  ): Promise<JobRow> {
    signal?.throwIfAborted();
    const end = Promise.withResolvers<JobRow>();
    end.promise.catch(() => {});
    await this.#submit(kind, given, { mayWait: false, signal, onStart, onEnd: end.resolve, onError: end.reject });
    return end.promise;
  }

  /** Returns the job: ended, or about to end. */
  async cancel(id: JobId): Promise<JobRow> {
    const { store, holder } = this.#options;
    const row = await cancelJob(store.jobs, id, holder);
    // Its worker may be dead; then it must be ended here.
    if (row.endedAt === null) this.#inBackground(awaitCancelled(store.jobs, id, holder, this.#stop.signal));
    return row;
  }

  /** Running jobs are interrupted, and resumed by the next server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#worker.stop();
    await Promise.all(this.#background);
    if (!this.#options.fleet) await this.queue[Symbol.asyncDispose]();
  }

  async #submit(kind: string, given: unknown, call: Omit<JobCaller, "kind" | "isNew">): Promise<JobId> {
    const { space, store } = this.#options;
    const params = this.#parse(kind, given);
    if (this.#stop.signal.aborted) throw new RequestError("unavailable", "The server is stopping.");
    if (!call.mayWait) await this.#refuseSecond(kind);
    const { job, isNew } = await findOrCreateJob(store.jobs, { space, kind, params });
    const { callers } = this.#worker;
    if (callers.has(job.id)) {
      if (call.mayWait) return job.id;
      throw new RequestError("conflict", `Another ${kind} with the same parameters is about to begin: ${job.id}.`);
    }
    callers.set(job.id, { ...call, kind, isNew });
    try {
      // Again: another job may have started before the worker knew of this one.
      if (!call.mayWait) await this.#refuseSecond(kind, job.id);
      await this.queue.send(this.#runOf(kind));
    } catch (error) {
      callers.delete(job.id);
      if (isNew) await store.jobs.delete(job.id).catch(() => {});
      throw error;
    }
    return job.id;
  }

  /** Only one job of a kind runs per space, in all processes. */
  async #refuseSecond(kind: string, ours?: JobId): Promise<void> {
    const { store, space } = this.#options;
    const held = await store.jobs.held(space, kind);
    if (held && held.id !== ours) throw anotherRuns(kind, held);
  }

  #parse(kind: string, given: unknown): unknown {
    const { kinds } = this.#options;
    if (!Object.hasOwn(kinds, kind)) {
      const meant = nearest(kind, this.kinds);
      throw new RequestError("invalid_request", `There is no kind of job called ${kind}.`, {
        fix: meant ? `Did you mean ${meant}?` : `There are: ${this.kinds.join(", ")}.`,
      });
    }
    const parsed = kinds[kind]!.params.safeParse(given);
    if (parsed.success) return parsed.data;
    throw new RequestError(
      "invalid_request",
      `A ${kind} cannot be started with this: ${z.prettifyError(parsed.error)}`,
    );
  }

  /** `begun` tells of a start in this process, the store of one in another. */
  async #awaitStart(id: JobId, begun: Promise<void>): Promise<void> {
    const { jobs } = this.#options.store;
    const until = performance.now() + START_MS;
    while (performance.now() < until) {
      if (await Promise.race([begun.then(() => true), delay(LOOK_MS, false)])) return;
      const row = await jobs.get(id);
      // A missing row was refused: `begun` is about to reject.
      if (row && row.state !== "queued" && row.state !== "interrupted") return;
    }
    // The job was promised by now, so it must not be refused later.
    const caller = this.#worker.callers.get(id);
    if (caller) caller.mayWait = true;
  }

  #runOf(kind: string) {
    return jobRun(this.#tenant, this.#options.space, kind);
  }

  #inBackground(work: Promise<unknown>): void {
    const settled = work.catch((error: unknown) =>
      this.#options.log.warn({ error: String(error) }, "jobs could not be checked"),
    );
    this.#background.add(settled);
    void settled.finally(() => this.#background.delete(settled));
  }
}
