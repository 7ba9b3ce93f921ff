import { type Clock, type SessionId, sleep } from "@tandem/protocol";
import { LeaseLost, type Lease, type Leases, type SessionRow } from "@tandem/storage";
import type { Log } from "../host/host-settings.ts";
import { DatabaseAway } from "./database-away.ts";
import type { SessionActor } from "./session-actor.ts";

/** Shares of the TTL without a renewal after which other workers are asked. One without a database takes two seconds to say so. */
const ASKED_AFTER = 1 / 2;
/** … after which a session is paused. */
const PAUSED_AFTER = 2 / 3;
/** … after which a session that another worker may take over is ended: its process must be dead when the lease expires. */
const ENDED_AFTER = 0.85;
/** Renewals per TTL. */
const RENEWALS = 4;
/**
 * The share of the TTL after which a renewal without an answer is repeated. Where every answer takes half of the TTL, the last
 * known renewal is then always younger than `PAUSED_AFTER`.
 */
const REPEATED_AFTER = 1 / 8;
/** A renewal without an answer occupies a connection of the pool. */
const MAX_UNANSWERED = 4;
const LOOKS = 24;
/** A process that was suspended for this share of the TTL finds its children ended: its `Guardian` waits a little longer. */
const HALTED = 0.45;

type WatchedActor = Pick<SessionActor, "lease" | "row" | "gone" | "ended" | "pause" | "unpause" | "lost">;

interface LeaseWatchOptions {
  ttl: number;
  /** How long a session waits for an unavailable database. */
  waitMs: number;
  /**
   * Which sessions other workers may take over while this process has no database: see `PeerWorkers`. Undefined if there are no
   * other workers: writers then just wait for the database.
   */
  findContested: ((sessions: readonly SessionRow[]) => Promise<ReadonlySet<SessionId>>) | undefined;
  log: Log;
  clock: Clock;
}

interface Held {
  /** When the lease was last known to be held, by the monotonic clock, before the database was asked. */
  since: number;
  /** No other worker takes the session for one TTL from here: `since`, or when the others were asked and promised it. */
  safeSince: number;
  isPaused: boolean;
}

/**
 * Renews the leases of sessions. If the database does not answer, a session is paused before its lease expires: its Claude
 * Code process is suspended. If another worker may take the session over, it is given up before the lease expires, so that a
 * session never has two processes. If none can, because they have no database either, it stays paused: once the database is
 * back, it continues if its lease is still held, and is given up otherwise. A session is also given up after `waitMs`, or if
 * this process was suspended.
 */
export class LeaseWatch {
  readonly #leases: Pick<Leases, "renew">;
  readonly #options: LeaseWatchOptions;
  readonly #held = new Map<WatchedActor, Held>();
  #stops: (() => void)[] = [];
  #looked: number;
  /** Whether a renewal was sent a short time ago and has no answer yet. */
  #isWaiting = false;
  #unanswered = 0;
  #isFailing = false;
  #isAsking = false;

  constructor(leases: Pick<Leases, "renew">, options: LeaseWatchOptions) {
    this.#leases = leases;
    this.#options = options;
    this.#looked = options.clock.monotonic();
  }

  /** `since`: the monotonic time before its lease was taken. */
  add(actor: WatchedActor, since: number): void {
    this.#held.set(actor, { since, safeSince: since, isPaused: false });
    void actor.ended.then(() => this.#held.delete(actor));
  }

  start(): void {
    const { clock, ttl, findContested } = this.#options;
    this.#looked = clock.monotonic();
    this.#stops = [
      clock.every(ttl / RENEWALS, () => void this.#renew()),
      ...(findContested ? [clock.every(ttl / LOOKS, () => this.#look())] : []),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    // A late answer renews nothing any more.
    this.#held.clear();
  }

  /** A late answer counts when it comes, but the next renewal does not wait for it: its connection may be dead. */
  async #renew(): Promise<void> {
    // A suspended process must not renew leases that it is about to give up.
    this.#check();
    const { clock, ttl } = this.#options;
    if (this.#held.size === 0 || this.#isWaiting || this.#unanswered === MAX_UNANSWERED) return;
    this.#isWaiting = true;
    const answered = new AbortController();
    void this.#request([...this.#held.keys()]).finally(() => answered.abort());
    await sleep(clock, ttl * REPEATED_AFTER, { signal: answered.signal });
    this.#isWaiting = false;
    if (answered.signal.aborted) return;
    this.#fail("The database did not answer in time.");
    void this.#renew();
  }

  async #request(actors: readonly WatchedActor[]): Promise<void> {
    const asked = this.#options.clock.monotonic();
    const leases = actors.map(({ lease }) => lease);
    let lost: Lease[];
    this.#unanswered += 1;
    try {
      lost = await this.#leases.renew(leases, this.#options.ttl);
    } catch (error) {
      return this.#fail(String(error));
    } finally {
      this.#unanswered -= 1;
    }
    this.#settle(actors, new Set(lost.map(({ session }) => session)), asked);
  }

  #fail(error: string): void {
    if (!this.#isFailing) this.#options.log.warn({ error }, "leases could not be renewed");
    this.#isFailing = true;
  }

  #settle(actors: readonly WatchedActor[], lost: ReadonlySet<string>, asked: number): void {
    for (const actor of actors) {
      const held = this.#held.get(actor);
      if (!held) continue;
      if (lost.has(actor.lease.session)) this.#giveUp(actor);
      else this.#keep(actor, held, asked);
    }
    const { clock, ttl } = this.#options;
    this.#isFailing = clock.monotonic() - asked > ttl * REPEATED_AFTER;
    if (this.#isFailing) void this.#renew();
  }

  #keep(actor: WatchedActor, held: Held, asked: number): void {
    held.since = Math.max(held.since, asked);
    held.safeSince = Math.max(held.safeSince, asked);
    const { clock, ttl, log } = this.#options;
    // The lease may have expired since the database answered: a late answer proves nothing about now.
    if (!held.isPaused || clock.monotonic() - held.since > ttl * PAUSED_AFTER) return;
    held.isPaused = false;
    log.warn({ session: actor.lease.session }, "the database is back: the session continues");
    actor.unpause();
  }

  /** Not renewed any more: another worker may take it as soon as its lease has expired. */
  #giveUp(actor: WatchedActor, error?: LeaseLost): void {
    this.#held.delete(actor);
    actor.lost(error);
  }

  /** Renews sooner than usual while renewals fail: other workers may take an expired lease once the database is back. */
  #look(): void {
    this.#check();
    if (this.#isFailing) void this.#renew();
  }

  #check(): void {
    const { clock, ttl, waitMs, findContested, log } = this.#options;
    if (!findContested) return;
    const now = clock.monotonic();
    const wasHalted = now - this.#looked > ttl * HALTED;
    this.#looked = now;
    for (const [actor, held] of this.#held) {
      const silentMs = now - held.since;
      const { session } = actor.lease;
      if (wasHalted) {
        this.#giveUp(actor, new LeaseLost(session, `${session} is released: this process was suspended for too long.`));
      } else if (silentMs > Math.max(waitMs, ttl)) {
        this.#giveUp(actor, new DatabaseAway(session, silentMs));
      } else if (now - held.safeSince > ttl * ENDED_AFTER) {
        const why = "the database does not answer, and another worker may take it over";
        this.#giveUp(actor, new LeaseLost(session, `${session} is released: ${why}.`));
      } else if (silentMs > ttl * PAUSED_AFTER && !held.isPaused) {
        held.isPaused = true;
        log.warn({ session }, "the database does not answer: the session is paused until it is back");
        actor.pause();
      }
    }
    void this.#ask(findContested);
  }

  /** Asks again before the promise of the other workers ends, for sessions whose lease is not renewed. */
  async #ask(findContested: NonNullable<LeaseWatchOptions["findContested"]>): Promise<void> {
    const { clock, ttl, log } = this.#options;
    const asked = clock.monotonic();
    const actors = [...this.#held].filter(([, { safeSince }]) => asked - safeSince > ttl * ASKED_AFTER);
    if (actors.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const contested = await findContested(actors.map(([{ row }]) => row));
      for (const [{ lease }, held] of actors) {
        if (!contested.has(lease.session)) held.safeSince = Math.max(held.safeSince, asked);
      }
    } catch (error) {
      log.warn({ error: String(error) }, "other workers could not be asked");
    } finally {
      this.#isAsking = false;
    }
  }
}
