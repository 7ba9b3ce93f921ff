import { RequestError, type SessionId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { DeltaHub } from "./delta-hub.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { SessionActor } from "./session-actor.ts";

/** The sessions that this process writes. A session has one actor at most, here and, by its lease, anywhere. */
export class SessionActors {
  readonly #store: Store;
  readonly #settings: EngineSettings;
  readonly #deltas: DeltaHub;
  readonly #actors = new Map<SessionId, Promise<SessionActor | undefined>>();
  #timers: NodeJS.Timeout[] = [];
  #stopListening: (() => void) | undefined;
  #stopping = false;

  constructor(store: Store, settings: EngineSettings, deltas: DeltaHub) {
    this.#store = store;
    this.#settings = settings;
    this.#deltas = deltas;
  }

  /** Takes up what dead writers left, now and from now on. */
  async start(): Promise<void> {
    this.#stopListening = this.#store.inbox.onPut((session) => this.wake(session));
    await this.#lookAround();
    const { leaseTtl } = this.#settings;
    this.#timers = [
      setInterval(() => void this.#renew(), leaseTtl / 3),
      setInterval(() => void this.#lookAround(), leaseTtl / 2),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** Something waits for a session. Its holder looks, here or elsewhere; if there is none, this process takes it. */
  wake(session: SessionId): void {
    if (this.#stopping) return;
    void (async () => {
      try {
        await (await this.#take(session))?.poke();
      } catch (error) {
        this.#settings.log.warn({ session, error: String(error) }, "a session could not be taken up");
      }
    })();
  }

  /** The session's actor if this process has it. */
  async present(session: SessionId): Promise<SessionActor | undefined> {
    return this.#actors.get(session);
  }

  /** Does something as the session's writer. Refused with `conflict` while another process is. */
  async with<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<T> {
    const actor = await this.#take(session);
    if (actor) return work(actor);
    const held = await this.#store.leases.holder(session);
    throw new RequestError("conflict", `The session ${session} is held by ${held?.holder ?? "another process"}.`, {
      fix: "Send the request there, or wait until it lets go.",
    });
  }

  async release(session: SessionId): Promise<void> {
    await (await this.#actors.get(session))?.stop("stopped");
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#stopListening?.();
    const deadline = Date.now() + deadlineMs;
    const actors = (await Promise.all(this.#actors.values())).filter((actor) => actor !== undefined);
    await Promise.all(
      actors.map(async (actor) => {
        await actor.idle(Math.max(0, deadline - Date.now()));
        await actor.stop("stopped");
      }),
    );
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #take(session: SessionId): Promise<SessionActor | undefined> {
    const present = this.#actors.get(session);
    if (present) return present;
    if (this.#stopping) throw new RequestError("unavailable", "The server is stopping.");
    const taking = this.#open(session);
    this.#actors.set(session, taking);
    try {
      const actor = await taking;
      if (!actor) this.#forget(session, taking);
      return actor;
    } catch (error) {
      this.#forget(session, taking);
      throw error;
    }
  }

  async #open(session: SessionId): Promise<SessionActor | undefined> {
    const { leaseTtl, holder } = this.#settings;
    const lease = await this.#store.leases.take(session, holder, leaseTtl);
    if (!lease) return undefined;
    try {
      return await SessionActor.take(
        {
          store: this.#store,
          settings: this.#settings,
          show: (deltas) => this.#deltas.publish(session, deltas),
          onGone: () => this.#actors.delete(session),
        },
        lease,
      );
    } catch (error) {
      await this.#store.leases.release(lease);
      throw error;
    }
  }

  #forget(session: SessionId, taking: Promise<SessionActor | undefined>): void {
    if (this.#actors.get(session) === taking) this.#actors.delete(session);
  }

  async #renew(): Promise<void> {
    try {
      const actors = (await Promise.all(this.#actors.values())).filter((actor) => actor !== undefined);
      if (actors.length === 0) return;
      const lost = await this.#store.leases.renew(
        actors.map(({ lease }) => lease),
        this.#settings.leaseTtl,
      );
      for (const { session } of lost) actors.find(({ lease }) => lease.session === session)?.lost();
    } catch (error) {
      // The database is away; whoever writes waits for it, and learns then whether the session is still its own.
      this.#settings.log.warn({ error: String(error) }, "leases could not be renewed");
    }
  }

  /** Sessions whose writer died, and messages that nobody has been woken for. */
  async #lookAround(): Promise<void> {
    try {
      const found = await Promise.all([this.#store.leases.abandoned(), this.#store.inbox.sessions()]);
      for (const session of new Set(found.flat())) if (!this.#actors.has(session)) this.wake(session);
    } catch (error) {
      this.#settings.log.warn({ error: String(error) }, "the store could not be looked through");
    }
  }
}
