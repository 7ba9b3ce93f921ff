import { LeaseLost, type Leases } from "@tandem/storage";
import type { Clock } from "../host/clock.ts";
import type { Log } from "../host/host-settings.ts";
import type { SessionActor } from "./session-actor.ts";

/** The share of the TTL after which a session is given up if its lease could not be renewed. */
const GIVEN_UP = 2 / 3;
/** Renewals per TTL. */
const RENEWALS = 4;
const LOOKS = 24;
/** A process that was suspended for this share of the TTL finds its children ended: its `Guardian` waits a little longer. */
const HALTED = 0.45;

interface LeaseWatchOptions {
  ttl: number;
  /** Without it, writers wait for the database, and learn then whether the session is still theirs. */
  givesUp: boolean;
  log: Log;
  clock: Clock;
}

/**
 * Renews the leases of sessions. If the database is unreachable or this process was suspended, a session is given up before
 * its lease expires: its Claude Code process has ended before another worker can take the session.
 */
export class LeaseWatch {
  readonly #leases: Leases;
  readonly #options: LeaseWatchOptions;
  /** When each lease was last known to be held, by the monotonic clock, before the database was asked. */
  readonly #held = new Map<SessionActor, number>();
  #stops: (() => void)[] = [];
  #looked: number;

  constructor(leases: Leases, options: LeaseWatchOptions) {
    this.#leases = leases;
    this.#options = options;
    this.#looked = options.clock.monotonic();
  }

  /** `since`: the monotonic time before its lease was taken. */
  add(actor: SessionActor, since: number): void {
    this.#held.set(actor, since);
    void actor.ended.then(() => this.#held.delete(actor));
  }

  start(): void {
    const { clock, ttl, givesUp } = this.#options;
    this.#looked = clock.monotonic();
    this.#stops = [
      clock.every(ttl / RENEWALS, () => void this.#renew()),
      ...(givesUp ? [clock.every(ttl / LOOKS, () => this.#look())] : []),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  async #renew(): Promise<void> {
    // A suspended process must not renew leases that it is about to give up.
    this.#look();
    const actors = [...this.#held.keys()];
    if (actors.length === 0) return;
    const asked = this.#options.clock.monotonic();
    try {
      const lost = await this.#leases.renew(
        actors.map(({ lease }) => lease),
        this.#options.ttl,
      );
      const gone = new Set(lost.map(({ session }) => session));
      for (const actor of actors) {
        if (gone.has(actor.lease.session)) actor.lost();
        else if (this.#held.has(actor)) this.#held.set(actor, asked);
      }
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, "leases could not be renewed");
    }
  }

  #look(): void {
    if (!this.#options.givesUp) return;
    const now = this.#options.clock.monotonic();
    const wasHalted = now - this.#looked > this.#options.ttl * HALTED;
    this.#looked = now;
    for (const [actor, since] of this.#held) {
      if (!wasHalted && now - since <= this.#options.ttl * GIVEN_UP) continue;
      const { session } = actor.lease;
      const reason = wasHalted ? "this process was halted for too long" : "the database did not answer in time";
      actor.lost(new LeaseLost(session, `${session} is given up while it is still held here: ${reason}.`));
    }
  }
}
