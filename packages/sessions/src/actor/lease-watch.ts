import { LeaseLost, type Leases } from "@tandem/storage";
import type { SessionActor } from "./session-actor.ts";

/** The share of a lease's time after which a session whose lease could not be renewed is given up. */
const GIVEN_UP = 2 / 3;
/** So often in the time of a lease it is renewed, or tried to be. */
const RENEWALS = 4;
const LOOKS = 24;
/** Who was halted for such a share of it finds its processes ended: its `Guardian` is as patient as this, and a little more. */
const HALTED = 0.45;

type Log = { warn(details: Record<string, unknown>, message: string): void };

/**
 * Keeps the leases of sessions alive. One that cannot be kept, because the database is out of reach or this process was
 * halted, is given up while it still holds: its Claude Code process is gone before anybody else can take the session.
 */
export class LeaseWatch {
  readonly #leases: Leases;
  readonly #ttl: number;
  readonly #givesUp: boolean;
  readonly #log: Log;
  /** When each was last known to be held: by this process's own clock, before the database was asked. */
  readonly #held = new Map<SessionActor, number>();
  #timers: NodeJS.Timeout[] = [];
  #looked = performance.now();

  /** Without `givesUp`, whoever writes waits for the database, and learns then whether the session is still its own. */
  constructor(leases: Leases, { ttl, givesUp, log }: { ttl: number; givesUp: boolean; log: Log }) {
    this.#leases = leases;
    this.#ttl = ttl;
    this.#givesUp = givesUp;
    this.#log = log;
  }

  /** `since`: a moment before its lease was taken. */
  add(actor: SessionActor, since: number): void {
    this.#held.set(actor, since);
    void actor.ended.then(() => this.#held.delete(actor));
  }

  start(): void {
    this.#looked = performance.now();
    this.#timers = [
      setInterval(() => void this.#renew(), this.#ttl / RENEWALS),
      ...(this.#givesUp ? [setInterval(() => this.#look(), this.#ttl / LOOKS)] : []),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #renew(): Promise<void> {
    // Who was halted must not renew what it is about to give up.
    this.#look();
    const actors = [...this.#held.keys()];
    if (actors.length === 0) return;
    const asked = performance.now();
    try {
      const lost = await this.#leases.renew(
        actors.map(({ lease }) => lease),
        this.#ttl,
      );
      const gone = new Set(lost.map(({ session }) => session));
      for (const actor of actors) {
        if (gone.has(actor.lease.session)) actor.lost();
        else if (this.#held.has(actor)) this.#held.set(actor, asked);
      }
    } catch (error) {
      this.#log.warn({ error: String(error) }, "leases could not be renewed");
    }
  }

  #look(): void {
    if (!this.#givesUp) return;
    const now = performance.now();
    const wasHalted = now - this.#looked > this.#ttl * HALTED;
    this.#looked = now;
    for (const [actor, since] of this.#held) {
      if (!wasHalted && now - since <= this.#ttl * GIVEN_UP) continue;
      const { session } = actor.lease;
      const reason = wasHalted ? "this process was halted for too long" : "the database did not answer in time";
      actor.lost(new LeaseLost(session, `${session} is given up while it is still held here: ${reason}.`));
    }
  }
}
