import type { Db } from "pg-boss";
import { type Candidate, mostUrgent, nextOf } from "../most-urgent.ts";
import type { Run, Working, WorkWishes } from "../run-queue.ts";
import type { Carrier, TakenJob } from "./carrier.ts";
import { inName, placeIn, tenantIn } from "./queue-name.ts";
import { giveBack, settle } from "./settle.ts";
import { BEAT, HURRY, LOCK_TAKING, LOOK } from "./statements.ts";

/** How soon it is seen that a pause is over, or that another worker has died: nothing rings then. */
const LOOK_EVERY_MS = 1_000;
/**
 * A worker that has much to do answers the bell so much later than one that has nothing, and no two at the same moment: the idle
 * ones take more, and most others find nothing left.
 */
const COURTESY_MS = 20;
/** Of its room that a worker takes at once. */
const SHARE = 0.25;
/** After Postgres was away, every worker may say that it is alive before anybody is taken for dead. */
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
  readonly #carrier: Carrier;
  readonly #places: Set<string>;
  readonly #wishes: WorkWishes;
  readonly #onStopped: (worker: PgBossWorker) => void;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #served = new Map<string, number>();
  readonly #poll: NodeJS.Timeout;
  /** How often the bell rang for each queue. */
  readonly #rings = new Map<string, number>();
  #paused = false;
  #looking: Promise<void> | undefined;
  #again = false;
  #trustFrom = 0;
  #onIdle = (): void => {};

  constructor(carrier: Carrier, wishes: WorkWishes, onStopped: (worker: PgBossWorker) => void) {
    this.#carrier = carrier;
    this.#places = new Set(wishes.places);
    this.#wishes = wishes;
    this.#onStopped = onStopped;
    this.#poll = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
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

  /** A run was sent to this queue, or came back to it. */
  heard(queue: string): void {
    if (!this.#places.has(placeIn(queue))) return;
    this.#rings.set(queue, this.#ringsOf(queue) + 1);
    if (!this.#hasRoom()) return;
    const load = this.#underWay.size / this.#wishes.capacity();
    setTimeout(() => this.look(), (load + Math.random() / 4) * COURTESY_MS).unref();
  }

  #ringsOf(queue: string): number {
    return this.#rings.get(queue) ?? 0;
  }

  cancelled(key: string): void {
    for (const { run, abort } of this.#underWay.values()) {
      if (run.key === key) abort.abort(new Error("The run was cancelled."));
    }
  }

  /** Says that its runs are alive. One that is not its own any more was cancelled, or given to another. */
  async beat(): Promise<void> {
    const mine = [...this.#underWay.values()];
    if (mine.length === 0) return;
    const jobs = mine.map(({ job }) => job);
    const columns = [jobs.map(({ name }) => name), jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)];
    const alive = new Set((await this.#carrier.sql(BEAT, columns)).map(({ id }) => id));
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
    await Promise.all(cut.map(({ job, run }) => giveBack(this.#carrier, job, run)));
    this.#onStopped(this);
  }

  #hasRoom(): boolean {
    return !this.#paused && this.#underWay.size < this.#wishes.capacity();
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
      this.#carrier.trouble(error);
    }
  }

  /** What it finds says whether there may be more; where there certainly is, it is taken without a look before. */
  async #takeSome(before: Found): Promise<Found> {
    if (before !== "plenty") {
      const seen = await this.#see();
      if (Date.now() > this.#trustFrom) await this.#wake(seen);
      if (!mostUrgent(ready(seen), this.#carrier.options.limitOf)) return "nothing";
    }
    const { jobs, found } = await this.#carrier.transaction((db) => this.#claim(db));
    for (const job of jobs) await this.#begin(job);
    return found;
  }

  async #begin(job: TakenJob): Promise<void> {
    const run = readRun(job.data);
    if (!run) {
      this.#carrier.trouble(new Error(`A run in queue "${job.name}" could not be read, and was thrown away.`));
      await this.#carrier.boss.deleteJob(job.name, job);
    } else if (this.#paused) {
      await giveBack(this.#carrier, job, run);
    } else {
      this.#served.set(run.tenant, performance.now());
      void this.#perform({ job, run, abort: new AbortController() });
    }
  }

  /** Runs whose worker has died wait again: pg-boss would see to it, but not before a minute has passed. */
  async #wake(seen: readonly Seen[]): Promise<void> {
    for (const { name } of seen.filter(({ stale }) => stale)) {
      await this.#carrier.boss.supervise(name);
      if ((await this.#carrier.sql(HURRY, [name])).length > 0) this.#again = true;
    }
  }

  /**
   * With the lock, nobody else takes anything between what is seen here and what is taken. Several are taken at once, but for a
   * part of the room only: others may have more of it.
   */
  async #claim(db: Db): Promise<{ jobs: TakenJob[]; found: Found }> {
    const { boss, options } = this.#carrier;
    await this.#carrier.sql(LOCK_TAKING, [], db);
    const seen = ready(await this.#see(db));
    const room = Math.ceil((this.#wishes.capacity() - this.#underWay.size) * SHARE);
    const jobs: TakenJob[] = [];
    for (const [name, batchSize] of share(seen, room, options.limitOf)) {
      jobs.push(...(await boss.fetch<unknown>(name, { groupConcurrency: 1, batchSize, db })));
    }
    if (jobs.length === 0 || seen.length === 1) return { jobs, found: "nothing" };
    return { jobs, found: jobs.length < room ? "some" : "plenty" };
  }

  async #see(db?: Db): Promise<Seen[]> {
    const places = [...this.#places].map(inName);
    const tenants = this.#wishes.tenants?.map(inName) ?? null;
    const rows = await this.#carrier.sql(LOOK, [places, tenants], db);
    return rows.map(({ name, priority, since, busy, stale }) => ({
      name: String(name),
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
    const rings = this.#ringsOf(job.name);
    let failure: { error: unknown } | undefined;
    try {
      await this.#wishes.handle(run, abort.signal);
    } catch (error) {
      failure = { error };
    }
    // Until it is settled it beats on, so that nobody takes it while Postgres is away.
    try {
      if (this.#underWay.has(job.id)) await settle(this.#carrier, job, run, failure);
    } catch (error) {
      this.#carrier.trouble(error);
    }
    const wasFull = !this.#hasRoom();
    this.#underWay.delete(job.id);
    if (this.#underWay.size === 0) this.#onIdle();
    // Something may have waited for this: for room, for its tenant's limit, or for its key.
    const isLimited = Number.isFinite(this.#carrier.options.limitOf?.(run.tenant) ?? Infinity);
    if (wasFull || isLimited || this.#ringsOf(job.name) > rings) this.look();
  }
}

const ready = (seen: readonly Seen[]): Seen[] => seen.filter(({ stale }) => !stale);

/** How many to take from each queue. Of the only one, more than are seen: there may be as many. */
function share(seen: readonly Seen[], room: number, limitOf?: (tenant: string) => number): Map<string, number> {
  const next = nextOf(seen, room, limitOf);
  const [first] = next;
  if (!first) return new Map();
  const isOnly = seen.every(({ name }) => name === first.name);
  if (isOnly)
    return new Map([[first.name, Math.max(1, Math.min(room, (limitOf?.(first.tenant) ?? Infinity) - first.busy))]]);
  return new Map([...Map.groupBy(next, ({ name }) => name)].map(([name, runs]) => [name, runs.length]));
}

/** What stands in the queue may have been written by another version; undefined if it is no run. */
export function readRun(data: unknown): Run | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { kind, key, tenant, place, priority, traceparent }: Partial<Record<keyof Run, unknown>> = data;
  if (kind !== "session") return undefined;
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
