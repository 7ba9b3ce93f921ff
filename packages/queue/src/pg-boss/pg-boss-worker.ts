import type { Db } from "pg-boss";
import { type Candidate, mostUrgent, nextOf } from "../most-urgent.ts";
import type { Run, Working, WorkOptions } from "../run-queue.ts";
import type { PgBossAdapter, TakenJob } from "./pg-boss-adapter.ts";
import { inName, kindIn, placeIn, tenantIn } from "./queue-name.ts";
import { returnToQueue, settle } from "./settle.ts";
import { BEAT, RETRY_NOW, LOCK_TAKING, FIND_RUNNABLE } from "./statements.ts";

/** Poll interval for the end of a backoff or a dead worker, which send no notification. */
const POLL_MS = 1_000;
/**
 * A busy worker reacts later to a notification than an idle one, with jitter. Idle workers then take more, and most
 * others find nothing left (avoids a thundering herd).
 */
const BUSY_DELAY_MS = 20;
/** Fraction of the capacity that a worker takes at once. */
const SHARE = 0.25;
/** After a Postgres outage, every worker can send a heartbeat before any is considered dead. */
const GRACE_MS = 6_000;

interface UnderWay {
  job: TakenJob;
  run: Run;
  abort: AbortController;
}

type Found = "nothing" | "some" | "plenty";

interface Seen extends Candidate {
  name: string;
  stale: boolean;
}

export class PgBossWorker implements Working {
  readonly #adapter: PgBossAdapter;
  readonly #places: Set<string>;
  readonly #options: WorkOptions;
  readonly #onStopped: (worker: PgBossWorker) => void;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #served = new Map<string, number>();
  readonly #poll: NodeJS.Timeout;
  /** Number of notifications per queue. */
  readonly #notifications = new Map<string, number>();
  #paused = false;
  #looking: Promise<void> | undefined;
  #again = false;
  #trustFrom = 0;
  #onIdle = (): void => {};

  constructor(adapter: PgBossAdapter, options: WorkOptions, onStopped: (worker: PgBossWorker) => void) {
    this.#adapter = adapter;
    this.#places = new Set(options.places);
    this.#options = options;
    this.#onStopped = onStopped;
    this.#poll = setInterval(() => this.look(), options.pollMs ?? POLL_MS).unref();
    this.look();
  }

  async serve(place: string): Promise<void> {
    this.#places.add(place);
    this.look();
  }

  look(): void {
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = this.#takeAll().finally(() => {
      this.#looking = undefined;
    });
  }

  /** A run was sent or returned to this queue. */
  onNotification(queue: string): void {
    if (!this.#places.has(placeIn(queue))) return;
    this.#notifications.set(queue, this.#notificationsOf(queue) + 1);
    if (!this.#hasRoom()) return;
    const load = this.#underWay.size / this.#options.capacity();
    setTimeout(() => this.look(), (load + Math.random() / 4) * BUSY_DELAY_MS).unref();
  }

  #notificationsOf(queue: string): number {
    return this.#notifications.get(queue) ?? 0;
  }

  cancelled(key: string): void {
    for (const { run, abort } of this.#underWay.values()) {
      if (run.key === key) abort.abort(new Error("The run was cancelled."));
    }
  }

  /** Sends heartbeats for its runs. A run that is no longer its own was cancelled or given to another worker. */
  async beat(): Promise<void> {
    const mine = [...this.#underWay.values()];
    if (mine.length === 0) return;
    const jobs = mine.map(({ job }) => job);
    const columns = [jobs.map(({ name }) => name), jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)];
    const alive = new Set((await this.#adapter.sql(BEAT, columns)).map(({ id }) => id));
    for (const { job, abort } of mine) {
      const isLost = !alive.has(job.id) && this.#underWay.has(job.id);
      if (isLost) abort.abort(new Error("The run is not this worker's any more."));
    }
  }

  async pause(): Promise<void> {
    this.#paused = true;
    clearInterval(this.#poll);
    await this.#looking;
  }

  async stop(deadlineMs: number): Promise<void> {
    await this.pause();
    if (this.#underWay.size > 0 && deadlineMs > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        timer = setTimeout(resolve, deadlineMs);
      });
      clearTimeout(timer);
    }
    const cut = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { abort } of cut) abort.abort(new Error("The worker stops; the run goes back to the queue."));
    await Promise.all(cut.map(({ job, run }) => returnToQueue(this.#adapter, job, run)));
    this.#onStopped(this);
  }

  #hasRoom(): boolean {
    return !this.#paused && this.#underWay.size < this.#options.capacity();
  }

  async #takeAll(): Promise<void> {
    try {
      do {
        this.#again = false;
        let found: Found = "some";
        while (found !== "nothing" && this.#hasRoom()) found = await this.#takeSome(found);
      } while (this.#again);
    } catch (error) {
      this.#trustFrom = Date.now() + GRACE_MS;
      this.#adapter.trouble(error);
    }
  }

  /** Returns whether there may be more. If there certainly is, the next take needs no look before it. */
  async #takeSome(before: Found): Promise<Found> {
    if (before !== "plenty") {
      const seen = await this.#see();
      if (Date.now() > this.#trustFrom) await this.#wake(seen);
      if (!mostUrgent(ready(seen), this.#adapter.options.limitOf)) return "nothing";
    }
    const { jobs, found } = await this.#adapter.transaction((db) => this.#claim(db));
    for (const job of jobs) await this.#begin(job);
    return found;
  }

  async #begin(job: TakenJob): Promise<void> {
    const run = readRun(job.data);
    if (!run) {
      this.#adapter.trouble(new Error(`A run in queue "${job.name}" could not be read, and was thrown away.`));
      await this.#adapter.boss.deleteJob(job.name, job);
    } else if (this.#paused) {
      await returnToQueue(this.#adapter, job, run);
    } else {
      this.#served.set(run.tenant, performance.now());
      void this.#perform({ job, run, abort: new AbortController() });
    }
  }

  /** Requeues the runs of dead workers; pg-boss itself would do so only after a minute. */
  async #wake(seen: readonly Seen[]): Promise<void> {
    for (const { name } of seen.filter(({ stale }) => stale)) {
      await this.#adapter.boss.supervise(name);
      if ((await this.#adapter.sql(RETRY_NOW, [name])).length > 0) this.#again = true;
    }
  }

  /**
   * The lock prevents a race between looking and taking. Takes several runs at once, but only a part of the capacity,
   * because other workers may have more room.
   */
  async #claim(db: Db): Promise<{ jobs: TakenJob[]; found: Found }> {
    const { boss, options } = this.#adapter;
    await this.#adapter.sql(LOCK_TAKING, [], db);
    const seen = ready(await this.#see(db));
    const room = Math.ceil((this.#options.capacity() - this.#underWay.size) * SHARE);
    const jobs: TakenJob[] = [];
    for (const [name, batchSize] of share(seen, room, options.limitOf)) {
      jobs.push(...(await boss.fetch<unknown>(name, { groupConcurrency: 1, batchSize, db })));
    }
    if (jobs.length === 0 || seen.length === 1) return { jobs, found: "nothing" };
    return { jobs, found: jobs.length < room ? "some" : "plenty" };
  }

  async #see(db?: Db): Promise<Seen[]> {
    const places = [...this.#places].map(inName);
    const tenants = this.#options.tenants?.map(inName) ?? null;
    const rows = await this.#adapter.sql(FIND_RUNNABLE, [places, tenants], db);
    return rows.map(({ name, priority, since, busy, stale }) => ({
      name: String(name),
      kind: kindIn(String(name)),
      tenant: tenantIn(String(name)),
      priority: Number(priority),
      since: Number(since),
      busy: Number(busy),
      served: this.#served.get(tenantIn(String(name))) ?? 0,
      stale: stale === true,
    }));
  }

  async #perform(mine: UnderWay): Promise<void> {
    const { job, run, abort } = mine;
    this.#underWay.set(job.id, mine);
    const rings = this.#notificationsOf(job.name);
    let failure: { error: unknown } | undefined;
    try {
      await this.#options.handle(run, abort.signal);
    } catch (error) {
      failure = { error };
    }
    // Keep sending heartbeats until the result is stored, so that no other worker takes the run while Postgres is down.
    try {
      if (this.#underWay.has(job.id)) await settle(this.#adapter, job, run, failure);
    } catch (error) {
      this.#adapter.trouble(error);
    }
    const wasFull = !this.#hasRoom();
    this.#underWay.delete(job.id);
    if (this.#underWay.size === 0) this.#onIdle();
    // Another run may have waited for this one: for capacity, its tenant's limit, or its key.
    const isLimited =
      run.kind === "session" && Number.isFinite(this.#adapter.options.limitOf?.(run.tenant) ?? Infinity);
    if (wasFull || isLimited || this.#notificationsOf(job.name) > rings) this.look();
  }
}

const ready = (seen: readonly Seen[]): Seen[] => seen.filter(({ stale }) => !stale);

/** How many runs to take per queue. From a single queue more than were seen, because there may be more. */
function share(seen: readonly Seen[], room: number, limitOf?: (tenant: string) => number): Map<string, number> {
  const next = nextOf(seen, room, limitOf);
  const [first] = next;
  if (!first) return new Map();
  const isOnly = seen.every(({ name }) => name === first.name);
  if (isOnly) {
    const limit = first.kind === "session" ? (limitOf?.(first.tenant) ?? Infinity) : Infinity;
    return new Map([[first.name, Math.max(1, Math.min(room, limit - first.busy))]]);
  }
  return new Map([...Map.groupBy(next, ({ name }) => name)].map(([name, runs]) => [name, runs.length]));
}

/** The payload may come from another version; undefined if it is not a run. */
export function readRun(data: unknown): Run | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { kind, key, tenant, place, priority, traceparent }: Partial<Record<keyof Run, unknown>> = data;
  if (kind !== "session" && kind !== "job") return undefined;
  if (typeof key !== "string" || typeof tenant !== "string" || typeof place !== "string") return undefined;
  return {
    kind,
    key,
    tenant,
    place,
    priority: typeof priority === "number" ? priority : 0,
    ...(typeof traceparent === "string" && { traceparent }),
  };
}
