import { LeaseLost, type Leases } from "@tandem/storage";
import type { Clock } from "../host/clock.ts";
import type { Log } from "../host/host-settings.ts";
import { DatabaseAway } from "./database-away.ts";
import type { SessionActor } from "./session-actor.ts";

/** The share of the TTL after which a session is paused if its lease could not be renewed. */
const PAUSED_AFTER = 2 / 3;
/** Renewals per TTL. */
const RENEWALS = 4;
const LOOKS = 24;
/** A process that was suspended for this share of the TTL finds its children ended: its `Guardian` waits a little longer. */
const HALTED = 0.45;

interface LeaseWatchOptions {
  ttl: number;
  /** How long a session waits for an unavailable database. */
  waitMs: number;
  /** Whether other workers may take a session whose lease has expired. Without them, writers just wait for the database. */
  hasRivals: boolean;
  log: Log;
  clock: Clock;
}

interface Held {
  /** When the lease was last known to be held, by the monotonic clock, before the database was asked. */
  since: number;
  isPaused: boolean;
}

/**
 * Renews the leases of sessions. If the database does not answer, a session is paused before its lease expires: its Claude
 * Code process is suspended, so that it does nothing while another worker may have the session. Once the database is back,
 * the session continues if its lease is still held, and is given up otherwise. A session is also given up after `waitMs`,
 * or if this process was suspended.
 */
export class LeaseWatch {
  readonly #leases: Leases;
  readonly #options: LeaseWatchOptions;
  readonly #held = new Map<SessionActor, Held>();
  #stops: (() => void)[] = [];
  #looked: number;
  #renewing = false;
  #isFailing = false;

  constructor(leases: Leases, options: LeaseWatchOptions) {
    this.#leases = leases;
    this.#options = options;
    this.#looked = options.clock.monotonic();
  }

  /** `since`: the monotonic time before its lease was taken. */
  add(actor: SessionActor, since: number): void {
    this.#held.set(actor, { since, isPaused: false });
    void actor.ended.then(() => this.#held.delete(actor));
  }

  start(): void {
    const { clock, ttl, hasRivals } = this.#options;
    this.#looked = clock.monotonic();
    this.#stops = [
      clock.every(ttl / RENEWALS, () => void this.#renew()),
      ...(hasRivals ? [clock.every(ttl / LOOKS, () => this.#look())] : []),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  async #renew(): Promise<void> {
    // A suspended process must not renew leases that it is about to give up.
    this.#check();
    const actors = [...this.#held.keys()];
    if (actors.length === 0 || this.#renewing) return;
    this.#renewing = true;
    const asked = this.#options.clock.monotonic();
    try {
      const lost = await this.#leases.renew(
        actors.map(({ lease }) => lease),
        this.#options.ttl,
      );
      this.#isFailing = false;
      const gone = new Set(lost.map(({ session }) => session));
      for (const actor of actors) {
        if (gone.has(actor.lease.session)) actor.lost();
        else this.#keep(actor, asked);
      }
    } catch (error) {
      if (!this.#isFailing) this.#options.log.warn({ error: String(error) }, "leases could not be renewed");
      this.#isFailing = true;
    } finally {
      this.#renewing = false;
    }
  }

  #keep(actor: SessionActor, since: number): void {
    const held = this.#held.get(actor);
    if (!held) return;
    held.since = since;
    if (!held.isPaused) return;
    held.isPaused = false;
    this.#options.log.warn({ session: actor.lease.session }, "the database is back: the session continues");
    actor.unpause();
  }

  /** Renews sooner than usual while renewals fail: other workers may take an expired lease once the database is back. */
  #look(): void {
    this.#check();
    if (this.#isFailing) void this.#renew();
  }

  #check(): void {
    const { clock, ttl, waitMs, hasRivals, log } = this.#options;
    if (!hasRivals) return;
    const now = clock.monotonic();
    const wasHalted = now - this.#looked > ttl * HALTED;
    this.#looked = now;
    for (const [actor, held] of this.#held) {
      const silentMs = now - held.since;
      const { session } = actor.lease;
      if (wasHalted) {
        actor.lost(new LeaseLost(session, `${session} is given up: this process was suspended for too long.`));
      } else if (silentMs > Math.max(waitMs, ttl)) {
        actor.lost(new DatabaseAway(session, silentMs));
      } else if (silentMs > ttl * PAUSED_AFTER && !held.isPaused) {
        held.isPaused = true;
        log.warn({ session }, "the database does not answer: the session is paused until it is back");
        actor.pause();
      }
    }
  }
}
