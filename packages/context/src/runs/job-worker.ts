import { RequestError, sleep, systemClock, type JobId } from "@tandem/protocol";
import { jobKindOf, jobPlace, type Run, type RunQueue, type Working } from "@tandem/queue";
import type { HeldJob, JobLease, JobRow, Store } from "@tandem/storage";
import { endCancelled } from "./cancel-job.ts";
import type { JobKind } from "./job-kind.ts";
import type { Budget, LlmSource } from "./metered-llm.ts";
import { runJob } from "./run-job.ts";
import { anotherRuns } from "./waiting-jobs.ts";

/** A worker that is silent for this long counts as dead. */
const LEASE_MS = 15_000;
/** Clock skew between the store and its users. */
const LAPSE_MARGIN_MS = 500;
/** How often a waiting job checks whether another process still runs one of its kind. */
const LOOK_MS = 500;
/** Every tenant with a context has such a worker, in every process of a fleet. Notifications arrive at once anyway. */
const POLL_MS = 10_000;

export interface JobWorkerOptions {
  store: Store;
  /** Id of the context. */
  space: string;
  /** Description of this worker: `tandem context scan on host (pid 7)`. */
  holder: string;
  kinds: Readonly<Record<string, JobKind>>;
  models: { llm: LlmSource | undefined; modelOf: (role: string) => string };
  log: { warn(details: Record<string, unknown>, message: string): void };
  budget?: Budget | undefined;
  leaseMs?: number | undefined;
}

/** A call in this process that waits for a job. */
export interface JobCaller {
  kind: string;
  /** Whether the call has created the job; then a refusal deletes it. */
  isNew: boolean;
  /** Whether the job may wait behind another of its kind. Otherwise it is refused. */
  mayWait: boolean;
  signal?: AbortSignal | undefined;
  onStart(job: JobId): void;
  onEnd(row: JobRow): void;
  onError(error: unknown): void;
}

/**
 * Takes the runs of a context's jobs from the queue. A run is about the waiting jobs of a kind: the worker takes the
 * lease of one after the other. The queue delivers one run of a kind at a time; the leases exclude processes that do not
 * share the queue, such as a command beside a server.
 */
export class JobWorker {
  readonly callers = new Map<JobId, JobCaller>();
  readonly #options: JobWorkerOptions;
  readonly #queue: RunQueue;
  readonly #tenant: string;
  readonly #handling = new Set<Promise<void>>();
  readonly #unfit = new Set<JobId>();
  #working: Working | undefined;
  /** Kinds of which it takes all jobs. */
  readonly #adopted = new Set<string>();

  constructor(options: JobWorkerOptions, queue: RunQueue, tenant: string) {
    this.#options = options;
    this.#queue = queue;
    this.#tenant = tenant;
  }

  /** Takes jobs that this process has called for. */
  work(): void {
    const { space, kinds } = this.#options;
    this.#working ??= this.#queue.work(
      [jobPlace(space)],
      () => Object.keys(kinds).length,
      (run, signal) => this.#handle(run, signal),
      { tenants: [this.#tenant], pollMs: POLL_MS },
    );
  }

  /** Takes all jobs of these kinds from now on, also those that other processes have abandoned. */
  adopt(kinds: readonly string[]): void {
    for (const kind of kinds) this.#adopted.add(kind);
    this.work();
  }

  async pause(): Promise<void> {
    await this.#working?.pause();
  }

  /** Interrupts its jobs. Their runs return to the queue. */
  async stop(): Promise<void> {
    await this.#working?.stop(0);
    await Promise.allSettled(this.#handling);
    const error = new RequestError("unavailable", "The server is stopping.");
    for (const caller of this.callers.values()) caller.onError(error);
    this.callers.clear();
  }

  async #handle(run: Run, signal: AbortSignal): Promise<void> {
    const handling = this.#advance(jobKindOf(run, this.#options.space), signal);
    this.#handling.add(handling);
    try {
      await handling;
    } finally {
      this.#handling.delete(handling);
    }
  }

  async #advance(kind: string, signal: AbortSignal): Promise<void> {
    const called = [...this.callers].filter(([, caller]) => caller.kind === kind);
    const left = () => called.filter(([id, caller]) => this.callers.get(id) === caller);
    try {
      await this.#takeAll(kind, signal);
      if (signal.aborted) return;
      for (const [id, caller] of left()) await this.#settleTaken(id, caller);
    } catch (error) {
      for (const [id, caller] of left()) this.#fail(id, caller, error);
      throw error;
    }
  }

  /** Another process has taken the job of a caller. */
  async #settleTaken(id: JobId, caller: JobCaller): Promise<void> {
    const row = await this.#options.store.jobs.get(id);
    if (row && row.endedAt !== null) {
      this.callers.delete(id);
      caller.onEnd(row);
    } else {
      this.#fail(id, caller, new RequestError("conflict", `Another process has taken the job ${id} at once.`));
    }
  }

  async #takeAll(kind: string, signal: AbortSignal): Promise<void> {
    const { store, space, holder, leaseMs = LEASE_MS } = this.#options;
    while (!signal.aborted) {
      await endCancelled(store.jobs, space, holder);
      const job = await this.#next(kind);
      if (!job) {
        if (this.#adopted.has(kind) && (await this.#outlivesHolder(kind, signal))) continue;
        return;
      }
      let held = await store.jobs.held(space, kind);
      const lease = held ? undefined : await store.jobs.take(job.id, holder, leaseMs, { alone: true });
      if (lease) {
        await this.#run(job, lease, signal);
        continue;
      }
      held ??= await store.jobs.held(space, kind);
      const caller = this.callers.get(job.id);
      if (held && caller && !caller.mayWait) await this.#refuse(job.id, caller, held);
      else if (held) await sleep(systemClock, LOOK_MS, { signal });
    }
  }

  /** Called-for jobs first, then the oldest. */
  async #next(kind: string): Promise<JobRow | undefined> {
    const { store, space } = this.#options;
    const waiting = (await store.jobs.waiting(space)).filter((row) => row.kind === kind && this.#canRun(row));
    return waiting.find(({ id }) => this.callers.has(id)) ?? (this.#adopted.has(kind) ? waiting[0] : undefined);
  }

  /** A job of another process may have a kind or params that this process does not know, such as given documents. */
  #canRun({ id, kind, params }: JobRow): boolean {
    const { kinds, log } = this.#options;
    const parsed = Object.hasOwn(kinds, kind) && kinds[kind]!.params.safeParse(params);
    if (parsed && parsed.success) return true;
    if (this.#adopted.has(kind) && !this.#unfit.has(id)) {
      this.#unfit.add(id);
      log.warn({ job: id, kind, error: String(parsed && parsed.error) }, "a job could not be resumed");
    }
    return false;
  }

  /**
   * Waits until the worker that holds a job of this kind has released it, or has died and its lease has expired. False if
   * there is no job to take, or the worker has renewed its lease and so is alive.
   */
  async #outlivesHolder(kind: string, signal: AbortSignal): Promise<boolean> {
    const { store, space } = this.#options;
    const held = await store.jobs.held(space, kind);
    // The holder may have released its job since the last look.
    if (!held) return (await this.#next(kind)) !== undefined;
    for (let left = untilLapse(held); left > 0 && !signal.aborted; left = untilLapse(held)) {
      await sleep(systemClock, Math.min(LOOK_MS, left), { signal });
      if (!(await store.jobs.holder(held.id))) return true;
    }
    return false;
  }

  async #run(job: JobRow, lease: JobLease, signal: AbortSignal): Promise<void> {
    const { store, holder, kinds, models, budget, log, leaseMs = LEASE_MS } = this.#options;
    const kind = kinds[job.kind]!;
    const caller = this.callers.get(job.id);
    this.callers.delete(job.id);
    const expiresAt = new Date(Date.now() + leaseMs).toISOString();
    await this.#refuseOthers(job.kind, { id: job.id, holder, expiresAt });
    try {
      const row = await runJob({
        ...models,
        store,
        job,
        lease,
        leaseMs,
        budget: kind.budgetOf?.(job.params) ?? budget,
        signal: caller?.signal ? AbortSignal.any([signal, caller.signal]) : signal,
        onStart: () => caller?.onStart(job.id),
        body: (run) => kind.work(run, kind.params.parse(job.params)),
      });
      caller?.onEnd(row);
    } catch (error) {
      caller?.onError(error);
      if (signal.aborted || caller?.signal?.aborted) return;
      log.warn({ job: job.id, kind: job.kind, error: String(error) }, "a job broke off");
      throw error;
    }
  }

  /** Jobs that were submitted in the same moment as the one that starts now. */
  async #refuseOthers(kind: string, started: HeldJob): Promise<void> {
    for (const [id, caller] of this.callers) {
      if (caller.kind === kind && !caller.mayWait) await this.#refuse(id, caller, started);
    }
  }

  async #refuse(id: JobId, caller: JobCaller, held: HeldJob): Promise<void> {
    this.callers.delete(id);
    // The store refuses to delete a job that another worker has taken meanwhile.
    if (caller.isNew) await this.#options.store.jobs.delete(id).catch(() => {});
    caller.onError(anotherRuns(caller.kind, held));
  }

  #fail(id: JobId, caller: JobCaller, error: unknown): void {
    this.callers.delete(id);
    caller.onError(error);
  }
}

const untilLapse = ({ expiresAt }: HeldJob): number => Date.parse(expiresAt) + LAPSE_MARGIN_MS - Date.now();
