import { mostUrgent } from "../most-urgent.ts";
import {
  DEFAULT_ATTEMPTS,
  DEFAULT_PAUSE_SECONDS,
  MAX_PAUSE_SECONDS,
  type DeadRun,
  type QueueOptions,
  type Run,
  type RunQueue,
} from "../run-queue.ts";
import { EmbeddedWorker } from "./embedded-worker.ts";
import type { RunSource, RunUnderWay, WaitingRun } from "./run-source.ts";

/**
 * An in-process queue. Its workers live as long as it does, so that no run is ever lost. It is not durable and need not be: inbox, jobs and leases are, and the next process that opens
 * the store finds waiting sessions and jobs there.
 */
export function createEmbeddedQueue(options: QueueOptions = {}): RunQueue {
  const queue = new EmbeddedQueue(options);
  return {
    send: async (run) => queue.send(run),
    work: (places, capacity, handle, { tenants } = {}) => {
      const worker = new EmbeddedWorker(queue, { places, tenants, capacity, handle });
      queue.workers.add(worker);
      queue.look();
      return worker;
    },
    cancel: async (key) => queue.cancel(key),
    dead: async () => [...queue.deadRuns.values()].toReversed(),
    requeue: async (key) => queue.requeue(key),
    depth: async () => queue.depth(),
    [Symbol.asyncDispose]: () => queue.close(),
  };
}

/** Waiting, running and dead runs, and the workers. */
class EmbeddedQueue implements RunSource {
  readonly workers = new Set<EmbeddedWorker>();
  readonly deadRuns = new Map<string, DeadRun>();
  readonly #waiting = new Map<string, WaitingRun>();
  readonly #underWay = new Map<string, RunUnderWay>();
  readonly #options: QueueOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  send(run: Run): void {
    this.deadRuns.delete(run.key);
    if (!this.#waiting.has(run.key)) this.#wait({ run, sentAt: performance.now(), from: 0, failures: 0 });
    this.look();
  }

  /** Workers take one run each in turn, so that one worker does not take all. */
  look(): void {
    clearTimeout(this.#timer);
    // Read before the runs are checked: a run whose backoff ends in between would otherwise be neither taken nor timed.
    const now = performance.now();
    let taken = true;
    while (taken) {
      taken = false;
      for (const worker of this.workers) taken = worker.takeOne() || taken;
    }
    const due = [...this.#waiting.values()].map(({ from }) => from).filter((from) => from > now);
    if (due.length > 0)
      this.#timer = setTimeout(() => this.look(), Math.max(0, Math.min(...due) - performance.now())).unref();
  }

  /** Takes the next run for a worker and marks it as running. */
  take(canTake: (run: Run) => boolean, served: Map<string, number>): RunUnderWay | undefined {
    const busy = new Map<string, number>();
    for (const { run } of this.#underWay.values()) {
      if (run.kind === "session") busy.set(run.tenant, (busy.get(run.tenant) ?? 0) + 1);
    }
    const ready = [...this.#waiting.values()].filter(
      ({ run, from }) => canTake(run) && from <= performance.now() && !this.#underWay.has(run.key),
    );
    const best = mostUrgent(
      ready.map((it) => ({
        ...it,
        kind: it.run.kind,
        tenant: it.run.tenant,
        priority: it.run.priority,
        since: it.sentAt,
        busy: busy.get(it.run.tenant) ?? 0,
        served: served.get(it.run.tenant) ?? 0,
      })),
      this.#options.limitOf,
    );
    if (!best) return undefined;
    const { run, sentAt, from, failures } = best;
    const taken = { run, sentAt, from, failures, abort: new AbortController() };
    this.#waiting.delete(best.run.key);
    this.#underWay.set(best.run.key, taken);
    served.set(run.tenant, performance.now());
    return taken;
  }

  /** False if it was cancelled or aborted before. */
  end(taken: RunUnderWay): boolean {
    if (this.#underWay.get(taken.run.key) !== taken) return false;
    this.#underWay.delete(taken.run.key);
    return true;
  }

  fail(taken: RunUnderWay, error: unknown): void {
    if (!this.end(taken)) return;
    const failures = taken.failures + 1;
    const { attempts = DEFAULT_ATTEMPTS, pauseSeconds = DEFAULT_PAUSE_SECONDS } = this.#options;
    if (failures < attempts) {
      const pause = Math.min(pauseSeconds * 2 ** (failures - 1), MAX_PAUSE_SECONDS) * 1000;
      this.#wait({ ...taken, failures, from: performance.now() + pause });
    } else if (!this.#waiting.has(taken.run.key)) {
      const message = error instanceof Error ? error.message : String(error);
      this.deadRuns.set(taken.run.key, {
        run: taken.run,
        error: message,
        attempts: failures,
        at: new Date().toISOString(),
      });
    }
  }

  /** Another worker may take it; the attempt does not count. */
  returnToQueue(taken: RunUnderWay): void {
    if (this.end(taken)) this.#wait({ ...taken, from: 0 });
    taken.abort.abort(new Error("The worker stops; the run goes back to the queue."));
  }

  cancel(key: string): void {
    this.#waiting.delete(key);
    this.deadRuns.delete(key);
    const taken = this.#underWay.get(key);
    if (!taken) return;
    this.end(taken);
    taken.abort.abort(new Error("The run was cancelled."));
    this.look();
  }

  requeue(key: string): boolean {
    const dead = this.deadRuns.get(key);
    if (dead) this.send(dead.run);
    return dead !== undefined;
  }

  depth(): { place: string; waiting: number; running: number; oldestMs: number | null }[] {
    const runs = [...this.#waiting.values(), ...this.#underWay.values()];
    const places = [...new Set(runs.map(({ run }) => run.place))].toSorted();
    return places.map((place) => {
      const waiting = [...this.#waiting.values()].filter(({ run }) => run.place === place);
      const running = [...this.#underWay.values()].filter(({ run }) => run.place === place).length;
      const oldest = Math.min(...waiting.map(({ sentAt }) => sentAt));
      return {
        place,
        waiting: waiting.length,
        running,
        oldestMs: waiting.length > 0 ? performance.now() - oldest : null,
      };
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([...this.workers].map((worker) => worker.stop(0)));
    clearTimeout(this.#timer);
  }

  /** Runs waiting for the same key are merged: content of the newer, backoff of the failed one. */
  #wait({ run, sentAt, from, failures }: WaitingRun): void {
    const newer = this.#waiting.get(run.key)?.run ?? run;
    this.#waiting.set(run.key, { run: newer, sentAt, from, failures });
  }
}
