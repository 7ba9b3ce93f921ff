import { type JobError, type JobProgress, missingVariable, TandemError } from "@tandem/protocol";
import { LeaseLost, type JobLease, type JobRow, type JobStore, type Store } from "@tandem/storage";
import { EventWriter } from "./event-writer.ts";
import { type Budget, type LlmSource, MeteredLlm } from "./metered-llm.ts";
import type { Run, RunEvent } from "./job-run.ts";
import { StepCache } from "./step-cache.ts";

/** Poll interval for cancel requests. */
const LOOK_MS = 500;

export interface JobInput {
  store: Store;
  job: JobRow;
  /** Released at the end. */
  lease: JobLease;
  /** How long the lease is valid without a renewal. */
  leaseMs: number;
  /** Undefined if no backend is configured. */
  llm: LlmSource | undefined;
  modelOf: (role: string) => string;
  /** Performs the job. Returns its result as JSON. */
  body: (run: Run) => Promise<unknown>;
  /** Interrupts: the job stays unfinished, and the next worker resumes it. */
  signal: AbortSignal;
  budget?: Budget | undefined;
  /** Called once its start is stored. */
  onStart?: (() => void) | undefined;
}

type EndState = Exclude<JobRow["state"], "queued" | "running" | "interrupted">;

export const ended = (state: EndState): { state: EndState; endedAt: string } => ({
  state,
  endedAt: new Date().toISOString(),
});

/**
 * Runs a taken job to its end and returns its row: `done`, `partly` if something was skipped or a model call failed,
 * `failed`, or `cancelled`. Rejects only if it was interrupted or taken over.
 */
export async function runJob(input: JobInput): Promise<JobRow> {
  const { store, lease, leaseMs, modelOf, body, budget = {} } = input;
  const { id: job, space, kind, startedAt } = input.job;
  const resumed = startedAt !== null;
  const stop = new AbortController();
  const cache = new StepCache(store.records, space);
  let position: Pick<JobProgress, "stage" | "done" | "total" | "item"> = {
    stage: null,
    done: 0,
    total: null,
    item: null,
  };
  const skipped: { stage: string; item: string; code: string }[] = [];
  const spent = (): JobProgress["spent"] => ({
    requests: llm?.requests ?? 0,
    cached: cache.hits,
    usd: llm === undefined ? 0 : llm.usd,
  });
  const writer = new EventWriter(store.jobs, lease, {
    progress: () => ({ ...position, skipped: skipped.length, spent: spent() }),
    onLost: (error) => stop.abort(error),
  });
  const emit = (event: RunEvent) => {
    if (event.type === "stage_started") position = { stage: event.stage, done: 0, total: event.total, item: null };
    if (event.type === "stage_progress") {
      position = { stage: event.stage, done: event.done, total: event.total, item: event.item };
    }
    writer.add(event);
  };
  const llm =
    input.llm &&
    new MeteredLlm(input.llm, {
      signal: stop.signal,
      budget,
      emit,
      onSpent: () => emit({ type: "spent", ...spent() }),
    });
  const run: Run = {
    job,
    signal: stop.signal,
    llm,
    modelOf,
    emit,
    step: (...step) => {
      stop.signal.throwIfAborted();
      return cache.step(...step);
    },
    skip: (stage, item, { code, message }) => {
      skipped.push({ stage, item, code });
      emit({ type: "skipped", stage, item, code, message });
    },
  };
  const interrupt = () => stop.abort(new Interrupted(kind));
  input.signal.addEventListener("abort", interrupt, { once: true });
  if (input.signal.aborted) interrupt();
  const heart = beat(store.jobs, lease, leaseMs, stop);
  try {
    emit({ type: "started", kind, resumed });
    await writer.flush({ state: "running", ...(!resumed && { startedAt: new Date().toISOString() }) });
    input.onStart?.();
    const outcome = await perform(body, run, stop.signal);
    await llm?.close();
    if (outcome.state === "cancelled" || outcome.state === "failed") {
      return await end(outcome.state, outcome.error, null);
    }
    const { failure } = llm ?? {};
    const why = failure ?? (skipped.length > 0 ? undefined : null);
    return await end(why === null ? "done" : "partly", failure, outcome.result);
  } catch (error) {
    // Interrupted or taken over: the next worker continues from the stored state.
    if (error instanceof Interrupted) await writer.flush().catch(() => {});
    throw error;
  } finally {
    heart.stop();
    input.signal.removeEventListener("abort", interrupt);
    stop.abort(new Interrupted(kind));
    await llm?.close();
    await store.jobs.release(lease).catch(() => {});
  }

  async function end(state: EndState, error: TandemError | undefined, result: unknown): Promise<JobRow> {
    emit({ type: "spent", ...spent() });
    emit({ type: "ended", state, message: error?.message ?? null });
    await writer.flush({ ...ended(state), result: result ?? null, error: error ? jobError(error) : null });
    const row = await store.jobs.get(job);
    if (!row) throw new TandemError("not_found", `The job ${job} was deleted as it ended.`);
    return row;
  }
}

function jobError(error: TandemError): JobError {
  const { code, message, fix } = error;
  const variable = missingVariable(error);
  return { code, message, ...(fix && { fix }), ...(variable !== undefined && { missing_variables: [variable] }) };
}

type Outcome =
  | { state: "done"; result: unknown }
  | { state: "failed"; error: TandemError }
  | { state: "cancelled"; error: undefined };

async function perform(body: JobInput["body"], run: Run, signal: AbortSignal): Promise<Outcome> {
  try {
    // A body that only listens to the signal would never end if the signal has fired before.
    signal.throwIfAborted();
    return { state: "done", result: await body(run) };
  } catch (error) {
    const reason: unknown = signal.reason;
    if (reason instanceof Interrupted || reason instanceof LeaseLost) throw reason;
    if (reason instanceof Cancelled) return { state: "cancelled", error: undefined };
    return { state: "failed", error: asTandemError(error) };
  }
}

/** Renews the lease, and polls for a cancel request. */
function beat(jobs: JobStore, lease: JobLease, leaseMs: number, stop: AbortController): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let renewed = performance.now();
  let isOver = false;
  const look = async () => {
    try {
      if (performance.now() - renewed > leaseMs / 3) {
        const lost = await jobs.renew([lease], leaseMs);
        if (lost.length > 0) stop.abort(new LeaseLost(lease.job));
        renewed = performance.now();
      }
      if ((await jobs.get(lease.job))?.cancelRequested) stop.abort(new Cancelled());
    } catch {
      // Wait for an unavailable store until the lease has expired; then another worker may have the job.
      if (performance.now() - renewed > leaseMs) stop.abort(new LeaseLost(lease.job));
    }
    if (!isOver) timer = setTimeout(() => void look(), LOOK_MS);
  };
  timer = setTimeout(() => void look(), LOOK_MS);
  return {
    stop: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

class Interrupted extends TandemError {
  constructor(kind: string) {
    super("aborted", `The ${kind} was interrupted.`, { fix: "Start it again: it continues from here." });
  }
}

class Cancelled extends TandemError {
  constructor() {
    super("cancelled", "It was cancelled.");
  }
}

function asTandemError(error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new TandemError("unexpected", `Something unexpected happened: ${message}`, { cause: error });
}
