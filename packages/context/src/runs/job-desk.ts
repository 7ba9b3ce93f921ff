import { nearest, RequestError, type JobId } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { awaitCancelled, cancelJob, endCancelled } from "./cancel-job.ts";
import type { LlmSource } from "./metered-llm.ts";
import { runJob } from "./run-job.ts";
import type { Run } from "./job-run.ts";

/** The clocks of a store and of its users differ a little. */
const LAPSE_MARGIN_MS = 500;

/** What a kind of job is started with, and what it does. */
export interface JobKind {
  params: z.ZodType;
  /** `params` is what the schema has made of them. */
  work(run: Run, params: unknown): Promise<unknown>;
}

/** A kind whose work gets what its schema gives. */
export const jobKind = <P extends z.ZodType>(
  params: P,
  work: (run: Run, params: z.output<P>) => Promise<unknown>,
): JobKind => ({ params, work: (run, given) => work(run, params.parse(given)) });

export interface JobDeskParts {
  store: Store;
  space: string;
  /** Who works here, in words. */
  holder: string;
  kinds: Readonly<Record<string, JobKind>>;
  models: { llm: LlmSource | undefined; modelOf: (role: string) => string };
  log: { warn(details: Record<string, unknown>, message: string): void };
}

/** Does jobs in the background of a server: those that are asked for, and those that somebody has left unfinished. */
export class JobDesk implements AsyncDisposable {
  readonly #parts: JobDeskParts;
  readonly #stop = new AbortController();
  readonly #running = new Map<JobId, Promise<void>>();
  readonly #background = new Set<Promise<unknown>>();

  constructor(parts: JobDeskParts) {
    this.#parts = parts;
  }

  get kinds(): string[] {
    return Object.keys(this.#parts.kinds);
  }

  /**
   * Takes up what was left unfinished by one that is no more: all that is done here, or some kinds of it. Of each kind one
   * after the other; resolves when the first ones have begun. What a process holds that may have died just now is looked at
   * again when its lease has run out.
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

  /** One after the other: only one of a kind is under way. */
  async #inTurn(jobs: readonly JobRow[], onBegun: () => void): Promise<void> {
    for (const job of jobs) {
      const begun = await this.#takeUp(job);
      onBegun();
      await (begun && this.#running.get(begun));
    }
  }

  /** Which one has begun: of two with the same params, the other may have. */
  async #takeUp({ id, kind, params }: JobRow): Promise<JobId | undefined> {
    const { store, log } = this.#parts;
    try {
      // It may have been ended, or taken up by another, since it was listed.
      const row = await store.jobs.get(id);
      const isLeft = row?.endedAt === null && !row.cancelRequested && !this.#running.has(id);
      return isLeft && !this.#stop.signal.aborted ? (await this.start(kind, params)).id : undefined;
    } catch (error) {
      log.warn({ job: id, error: String(error) }, "a job could not be taken up");
      return undefined;
    }
  }

  /** Whoever lives has prolonged it by then. */
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

  /** The job as it is then: ended, or about to. */
  async cancel(id: JobId): Promise<JobRow> {
    const { store, holder } = this.#parts;
    const row = await cancelJob(store.jobs, id, holder);
    // Whoever works on it may be dead, and then nobody else would end it.
    if (row.endedAt === null) this.#inBackground(awaitCancelled(store.jobs, id, holder, this.#stop.signal));
    return row;
  }

  /** What runs is interrupted, and taken up by the next server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#running.values(), ...this.#background]);
  }
}
