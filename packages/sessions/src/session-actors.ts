import { RequestError, type SessionId } from "@tandem/protocol";
import { LeaseLost, type Store } from "@tandem/storage";
import type { Halt } from "./budgets/kill-switch.ts";
import type { DeltaHub } from "./delta-hub.ts";
import type { EngineSettings } from "./engine-settings.ts";
import type { ActorSurroundings, SessionActor } from "./session-actor.ts";

/** So long may a session take to write its end, once it has been told to stop; then it stops without. */
const LAST_WORDS_MS = 10_000;

type Beside = Pick<ActorSurroundings, "accompany" | "commands" | "definitions" | "halted" | "limits" | "rules">;

/** The sessions that this process writes. A session has one actor at most, here and, by its lease, anywhere. */
export class SessionActors {
  readonly #store: Store;
  readonly #settings: EngineSettings;
  readonly #deltas: DeltaHub;
  readonly #beside: Beside;
  readonly #actors = new Map<SessionId, Promise<SessionActor | undefined>>();
  /** Those of them that have been taken. */
  readonly #taken = new Set<SessionActor>();
  #timers: NodeJS.Timeout[] = [];
  #stopListening: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #stopping = false;

  constructor(store: Store, settings: EngineSettings, deltas: DeltaHub, beside: Beside) {
    this.#beside = beside;
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
    void this.#wake(session);
  }

  /** The session's actor if this process has it. */
  async present(session: SessionId): Promise<SessionActor | undefined> {
    return this.#actors.get(session);
  }

  /** Does something as the session's writer. Refused with `conflict` while another process is. */
  async with<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<T> {
    const done = await this.#do(session, work);
    if (done) return done.result;
    const held = await this.#store.leases.holder(session);
    throw new RequestError("conflict", `The session ${session} is held by ${held?.holder ?? "another process"}.`, {
      fix: "Send the request there, or wait until it lets go.",
    });
  }

  /** Ends every turn and process. Resolves with how many turns there were when all are gone. */
  async halt(halt: Halt): Promise<number> {
    const ended = await Promise.all([...this.#taken].map((actor) => actor.halt(halt).catch(() => false)));
    return ended.filter(Boolean).length;
  }

  /** Wakes all that have something waiting. A look that is under way may have seen what was before: it does not count. */
  async lookAround(): Promise<void> {
    await this.#looking;
    await this.#lookAround();
  }

  async release(session: SessionId): Promise<void> {
    await (await this.#actors.get(session))?.stop("stopped");
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#stopListening?.();
    await Promise.allSettled(this.#actors.values());
    await Promise.all([...this.#taken].map((actor) => stopWithin(actor, deadlineMs)));
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Never rejects: what could not be done now is done when somebody looks around next. */
  async #wake(session: SessionId): Promise<void> {
    if (this.#stopping) return;
    try {
      await this.#do(session, (actor) => actor.poke());
    } catch (error) {
      this.#settings.log.warn({ session, error: String(error) }, "a session could not be taken up");
    }
  }

  /** Undefined if somebody else holds the session. An actor that is about to leave is waited for, and followed by another. */
  async #do<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<{ result: T } | undefined> {
    while (true) {
      const actor = await this.#take(session);
      if (!actor) return undefined;
      try {
        return { result: await work(actor) };
      } catch (error) {
        if (!(error instanceof LeaseLost) || !actor.gone) throw error;
        await actor.ended;
      }
    }
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
    // What turns need is loaded with the first: who only opens sessions need not wait for it.
    const { SessionActor } = await import("./session-actor.ts");
    const lease = await this.#store.leases.take(session, holder, leaseTtl);
    if (!lease) return undefined;
    const previews = this.#deltas.outlet(session);
    try {
      const actor = await SessionActor.take(
        { store: this.#store, settings: this.#settings, previews, ...this.#beside },
        lease,
      );
      this.#taken.add(actor);
      void this.#forgetWhenGone(session, actor);
      return actor;
    } catch (error) {
      await this.#store.leases.release(lease);
      throw error;
    }
  }

  async #forgetWhenGone(session: SessionId, actor: SessionActor): Promise<void> {
    await actor.ended;
    this.#taken.delete(actor);
    this.#actors.delete(session);
    this.#deltas.forget(session);
  }

  #forget(session: SessionId, taking: Promise<SessionActor | undefined>): void {
    if (this.#actors.get(session) === taking) this.#actors.delete(session);
  }

  async #renew(): Promise<void> {
    try {
      const actors = [...this.#taken];
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
  #lookAround(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    try {
      // Somebody may have stopped everything at another server.
      const halt = await this.#beside.halted();
      if (halt) await this.halt(halt);
      const found = await Promise.all([this.#store.leases.abandoned(), this.#store.inbox.sessions()]);
      await Promise.all([...new Set(found.flat())].map((session) => this.#wake(session)));
    } catch (error) {
      this.#settings.log.warn({ error: String(error) }, "the store could not be looked through");
    }
  }
}

async function stopWithin(actor: SessionActor, deadlineMs: number): Promise<void> {
  await actor.idle(deadlineMs);
  const late = setTimeout(() => {
    actor.lost(new RequestError("unavailable", "The session could not be written before the server stopped."));
  }, LAST_WORDS_MS);
  try {
    await Promise.race([actor.stop("stopped"), actor.ended]);
    await actor.ended;
  } finally {
    clearTimeout(late);
  }
}
