import { nearest, RequestError, type JobId } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { z } from "zod";
import { cancelJob } from "./cancel-job.ts";
import type { LlmSource } from "./metered-llm.ts";
import { runJob } from "./run-job.ts";
import type { Run } from "./run.ts";

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

  constructor(parts: JobDeskParts) {
    this.#parts = parts;
  }

  get kinds(): string[] {
    return Object.keys(this.#parts.kinds);
  }

  /** Takes up what was left unfinished by one that is no more: all that is done here, or some kinds of it. */
  async resume(wanted: readonly string[] = this.kinds): Promise<void> {
    const { store, space, log } = this.#parts;
    for (const { id, kind, params } of await store.jobs.waiting(space)) {
      if (!wanted.includes(kind) || !this.kinds.includes(kind) || this.#running.has(id)) continue;
      await this.start(kind, params).catch((error: unknown) => {
        log.warn({ job: id, error: String(error) }, "a job could not be taken up");
      });
    }
  }

  /** Resolves once it has begun, with its row; it goes on by itself. */
  async start(kind: string, given: unknown): Promise<JobRow> {
    const { kinds, store, space, holder, models, log } = this.#parts;
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
    const begun = Promise.withResolvers<JobId>();
    const work = runJob({
      ...models,
      ...{ store, space, kind, params, holder, signal: this.#stop.signal },
      onStart: (job) => begun.resolve(job),
      body: (run) => kinds[kind]!.work(run, params),
    }).then(
      () => undefined,
      (error: unknown) => {
        begun.reject(error);
        // Its row says how far it came; it is taken up again.
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

  /** The job as it is then: ended, or about to. */
  async cancel(id: JobId): Promise<JobRow> {
    const { store, holder } = this.#parts;
    return cancelJob(store.jobs, id, holder);
  }

  /** What runs is interrupted, and taken up by the next server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }
}
