import { nearest, RequestError, type JobId } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { awaitCancelled, cancelJob, endCancelled } from "./cancel-job.ts";
import type { LlmSource } from "./metered-llm.ts";
import { runJob } from "./run-job.ts";
import type { Run } from "./job-run.ts";

/** Clock skew between the store and its users. */
const LAPSE_MARGIN_MS = 500;

/** Parameters and work of a kind of job. */
export interface JobKind {
  params: z.ZodType;
  /** `params` is the parsed value. */
  work(run: Run, params: unknown): Promise<unknown>;
}

/** A job kind with typed params. */
export const jobKind = <P extends z.ZodType>(
  params: P,
  work: (run: Run, params: z.output<P>) => Promise<unknown>,
): JobKind => ({ params, work: (run, given) => work(run, params.parse(given)) });

export interface JobRunnerOptions {
  store: Store;
  space: string;
  /** Description of this worker. */
  holder: string;
  kinds: Readonly<Record<string, JobKind>>;
  models: { llm: LlmSource | undefined; modelOf: (role: string) => string };
  log: { warn(details: Record<string, unknown>, message: string): void };
}

/** Runs a server's background jobs: requested ones, and abandoned ones. */
export class JobRunner implements AsyncDisposable {
  readonly #parts: JobRunnerOptions;
  readonly #stop = new AbortController();
  readonly #running = new Map<JobId, Promise<void>>();
  readonly #background = new Set<Promise<unknown>>();

  constructor(parts: JobRunnerOptions) {
    this.#parts = parts;
  }

  get kinds(): string[] {
    return Object.keys(this.#parts.kinds);
  }

  /**
   * Resumes abandoned jobs of all or the given kinds, one after the other per kind; resolves when the first have
   * started. A job whose worker may have just died is checked again when its lease expires.
   */
  async resume(wanted: readonly string[] = this.kinds): Promise<void> {
    const { store, space, holder } = this.#parts;
    await endCancelled(store.jobs, space, holder);
    const isOurs = ({ id, kind }: JobRow) =>
      wanted.includes(kind) && this.kinds.includes(kind) && !this.#running.has(id);
    const left = (await store.jobs.waiting(space)).filter(isOurs);
    const { data: held } = await store.jobs.list({ space, states: ["queued", "running"], limit: 100 });
    for (const job of held.filter(isOurs)) {
      const lease = await store.jobs.holder(job.id);
      if (lease) this.#inBackground(this.#takeOver(job, Date.parse(lease.expiresAt)));
    }
    const first = [...Map.groupBy(left, ({ kind }) => kind).values()].map((jobs) => {
      const begun = Promise.withResolvers<void>();
      this.#inBackground(this.#inTurn(jobs, begun.resolve).finally(begun.resolve));
      return begun.promise;
    });
    await Promise.all(first);
  }

  /** One after the other: only one job of a kind may run. */
  async #inTurn(jobs: readonly JobRow[], onBegun: () => void): Promise<void> {
    for (const job of jobs) {
      const begun = await this.#takeUp(job);
      onBegun();
      await (begun && this.#running.get(begun));
    }
  }

  /** The job that was started: of two with the same params, it may be the other. */
  async #takeUp({ id, kind, params }: JobRow): Promise<JobId | undefined> {
    const { store, log } = this.#parts;
    try {
      // It may have ended or been resumed by another worker since it was listed.
      const row = await store.jobs.get(id);
      const isLeft = row?.endedAt === null && !row.cancelRequested && !this.#running.has(id);
      return isLeft && !this.#stop.signal.aborted ? (await this.start(kind, params)).id : undefined;
    } catch (error) {
      log.warn({ job: id, error: String(error) }, "a job could not be taken up");
      return undefined;
    }
  }

  /** A living worker has renewed its lease by then. */
  async #takeOver(job: JobRow, expiresAt: number): Promise<void> {
    const { store, space, holder } = this.#parts;
    const wait = Math.max(0, expiresAt - Date.now()) + LAPSE_MARGIN_MS;
    await delay(wait, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    if (this.#stop.signal.aborted || (await store.jobs.holder(job.id))) return;
    await endCancelled(store.jobs, space, holder);
    await this.#takeUp(job);
  }

  #inBackground(work: Promise<unknown>): void {
    const settled = work.catch((error: unknown) =>
      this.#parts.log.warn({ error: String(error) }, "jobs could not be looked after"),
    );
    this.#background.add(settled);
    void settled.finally(() => this.#background.delete(settled));
  }

  /** Starts a job in the background. Resolves with its row once it runs. */
  async start(kind: string, given: unknown): Promise<JobRow> {
    const { store, log } = this.#parts;
    const begun = Promise.withResolvers<JobId>();
    const work = this.run(kind, given, { onStart: begun.resolve }).then(
      () => undefined,
      (error: unknown) => {
        begun.reject(error);
        // The row records how far the job came. The next server resumes it.
        if (!this.#stop.signal.aborted) log.warn({ kind, error: String(error) }, "a job broke off");
      },
    );
    const id = await begun.promise;
    this.#running.set(
      id,
      work.finally(() => this.#running.delete(id)),
    );
    const row = await store.jobs.get(id);
    if (!row) throw new RequestError("not_found", `The job ${id} was deleted as it began.`);
    return row;
  }

  /** Runs a job to its end and returns its row. Rejects if it cannot begin, or if `signal` interrupts it. */
  async run(
    kind: string,
    given: unknown,
    { signal, onStart }: { signal?: AbortSignal; onStart: (job: JobId) => void },
  ): Promise<JobRow> {
    const { kinds, store, space, holder, models } = this.#parts;
    if (!Object.hasOwn(kinds, kind)) {
      const meant = nearest(kind, this.kinds);
      throw new RequestError("invalid_request", `There is no kind of job called ${kind}.`, {
        fix: meant ? `Did you mean ${meant}?` : `There are: ${this.kinds.join(", ")}.`,
      });
    }
    const parsed = kinds[kind]!.params.safeParse(given);
    if (!parsed.success) {
      throw new RequestError(
        "invalid_request",
        `A ${kind} cannot be started with this: ${z.prettifyError(parsed.error)}`,
      );
    }
    const params: unknown = parsed.data;
    if (this.#stop.signal.aborted) throw new RequestError("unavailable", "The server is stopping.");
    return runJob({
      ...models,
      store,
      space,
      kind,
      params,
      holder,
      signal: signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal,
      onStart,
      body: (run) => kinds[kind]!.work(run, params),
    });
  }

  /** Returns the job: ended, or about to end. */
  async cancel(id: JobId): Promise<JobRow> {
    const { store, holder } = this.#parts;
    const row = await cancelJob(store.jobs, id, holder);
    // Its worker may be dead; then it must be ended here.
    if (row.endedAt === null) this.#inBackground(awaitCancelled(store.jobs, id, holder, this.#stop.signal));
    return row;
  }

  /** Running jobs are interrupted, and resumed by the next server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#running.values(), ...this.#background]);
  }
}
