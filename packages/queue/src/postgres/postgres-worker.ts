import { mostUrgent } from "../most-urgent.ts";
import type { QueueOptions, Run, Working, WorkOptions } from "../run-queue.ts";
import type { QueueDatabase } from "./queue-database.ts";
import { beat, findRunnable, giveBack, take, type ServedTenant, type TakenRow } from "./queue-statements.ts";

/** Poll interval for the end of a backoff, which sends no notification. */
const POLL_MS = 1_000;
/**
 * A busy worker reacts later to a notification than an idle one, with jitter. Idle workers then take more, and most
 * others find nothing left (avoids a thundering herd).
 */
const BUSY_DELAY_MS = 20;
/** Fraction of the capacity that a worker takes at once, because other workers may have more room. */
const SHARE = 0.25;

/** The queue as a worker uses it. */
export interface WorkerParts {
  database: QueueDatabase;
  options: QueueOptions;
  silentSeconds: number;
  /** Stores the end of a run. Does nothing if the attempt is no longer this worker's. */
  settle: (taken: TakenRow, failure: { error: unknown } | undefined) => Promise<void>;
  trouble: (error: unknown) => void;
  onStopped: (worker: PostgresWorker) => void;
}

interface UnderWay {
  taken: TakenRow;
  abort: AbortController;
}

export class PostgresWorker implements Working {
  readonly #parts: WorkerParts;
  readonly #options: WorkOptions;
  readonly #places: Set<string>;
  /** By token. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #served = new Map<string, number>();
  readonly #poll: NodeJS.Timeout;
  /** Number of notifications per place. */
  readonly #notifications = new Map<string, number>();
  #paused = false;
  #looking: Promise<void> | undefined;
  #again = false;
  #onIdle = (): void => {};

  constructor(parts: WorkerParts, options: WorkOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#places = new Set(options.places);
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

  /** A run was sent or returned to this place. */
  onNotification(place: string): void {
    if (!this.#places.has(place)) return;
    this.#notifications.set(place, this.#notificationsOf(place) + 1);
    if (!this.#hasRoom()) return;
    const load = this.#underWay.size / this.#options.capacity();
    setTimeout(() => this.look(), (load + Math.random() / 4) * BUSY_DELAY_MS).unref();
  }

  #notificationsOf(place: string): number {
    return this.#notifications.get(place) ?? 0;
  }

  cancelled(key: string): void {
    for (const { taken, abort } of this.#underWay.values()) {
      if (taken.key === key) abort.abort(new Error("The run was cancelled."));
    }
  }

  /** Sends heartbeats for its runs. A run that is no longer its own was cancelled or given to another worker. */
  async beat(): Promise<void> {
    const mine = [...this.#underWay.values()];
    if (mine.length === 0) return;
    const rows = await this.#parts.database.query(
      beat(
        mine.map(({ taken }) => taken),
        this.#parts.silentSeconds,
      ),
    );
    const alive = new Set(rows.map(({ token }) => token));
    for (const { taken, abort } of mine) {
      const isLost = !alive.has(taken.token) && this.#underWay.has(taken.token);
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
    await Promise.all(cut.map(({ taken }) => this.#return(taken)));
    this.#parts.onStopped(this);
  }

  #hasRoom(): boolean {
    return !this.#paused && this.#underWay.size < this.#options.capacity();
  }

  async #takeAll(): Promise<void> {
    try {
      do {
        this.#again = false;
        const tenants = await this.#findTenants();
        while (tenants.length > 0 && this.#hasRoom() && (await this.#takeSome(tenants))) {
          // As many as it wanted: there may be more.
        }
      } while (this.#again);
    } catch (error) {
      this.#parts.trouble(error);
    }
  }

  /** Tenants with runs to take; none if this worker can take no run. Without the lock, so that idle workers never wait for it. */
  async #findTenants(): Promise<string[]> {
    if (!this.#hasRoom()) return [];
    const seen = await this.#parts.database.query(findRunnable([...this.#places], this.#options.tenants ?? null, 1));
    const { limitOf } = this.#parts.options;
    if (
      !mostUrgent(
        seen.map((row) => ({ ...row, served: 0 })),
        limitOf,
      )
    )
      return [];
    return [...new Set(seen.map(({ tenant }) => tenant))];
  }

  /** Returns whether there may be more. */
  async #takeSome(tenants: readonly string[]): Promise<boolean> {
    const { database, silentSeconds } = this.#parts;
    const room = Math.ceil((this.#options.capacity() - this.#underWay.size) * SHARE);
    const served = tenants.map((tenant) => this.#servedTenant(tenant));
    const taken = await database.take(take({ places: [...this.#places], tenants: served, room, silentSeconds }));
    for (const each of taken) {
      if (this.#paused) {
        await this.#return(each);
      } else {
        this.#served.set(each.tenant, performance.now());
        void this.#perform({ taken: each, abort: new AbortController() });
      }
    }
    return taken.length === room;
  }

  #servedTenant(tenant: string): ServedTenant {
    const most = this.#parts.options.limitOf?.(tenant) ?? Infinity;
    return { tenant, most: Number.isFinite(most) ? most : null, served: this.#served.get(tenant) ?? 0 };
  }

  async #perform(mine: UnderWay): Promise<void> {
    const { taken, abort } = mine;
    this.#underWay.set(taken.token, mine);
    const heard = this.#notificationsOf(taken.place);
    let failure: { error: unknown } | undefined;
    try {
      await this.#options.handle(runOf(taken), abort.signal);
    } catch (error) {
      failure = { error };
    }
    // Keep sending heartbeats until the result is stored, so that no other worker takes the run while Postgres is down.
    try {
      if (this.#underWay.has(taken.token)) await this.#parts.settle(taken, failure);
    } catch (error) {
      this.#parts.trouble(error);
    }
    const wasFull = !this.#hasRoom();
    this.#underWay.delete(taken.token);
    if (this.#underWay.size === 0) this.#onIdle();
    // Another run may have waited for this one: for capacity, its tenant's limit, or its key.
    const isLimited =
      taken.kind === "session" && Number.isFinite(this.#parts.options.limitOf?.(taken.tenant) ?? Infinity);
    if (wasFull || isLimited || this.#notificationsOf(taken.place) > heard) this.look();
  }

  /** If this fails, the run counts as lost after a few seconds and is retried. */
  async #return(taken: TakenRow): Promise<void> {
    await this.#parts.database.patiently(giveBack(taken)).catch((error: unknown) => this.#parts.trouble(error));
  }
}

export const runOf = ({ kind, key, tenant, place, priority, traceparent }: Omit<TakenRow, "token">): Run => ({
  kind,
  key,
  tenant,
  place,
  priority,
  ...(traceparent !== null && { traceparent }),
});
