import { RequestError, type SessionId } from "@tandem/protocol";
import { LeaseLost, type SessionRow, type Store } from "@tandem/storage";
import type { Halt } from "../budgets/kill-switch.ts";
import type { DeltaHub } from "../log/delta-hub.ts";
import type { ActorSettings } from "./actor-settings.ts";
import { WorkerCall } from "../fleet/worker-call.ts";
import { sleep } from "../host/clock.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { fits } from "../fleet/place.ts";
import type { SessionRuns } from "../fleet/session-runs.ts";
import type { ActorDependencies } from "./actor-dependencies.ts";
import type { SessionActor } from "./session-actor.ts";

/** So long may a session take to write its end, once it has been told to stop; then it stops without. */
const LAST_WORDS_MS = 10_000;
/** In a fleet, so often it is looked for what nobody was called for: a takeover waits for it. */
const LOOK_MS = 2_000;
/** Who holds a session only to write a word lets it go soon. */
const ADVANCE_TRIES = 20;
const ADVANCE_PAUSE_MS = 100;

type Beside = Pick<ActorDependencies, "createTurnHooks" | "commands" | "definitions" | "halted" | "limits" | "rules">;

/** The sessions that this process writes. A session has one actor at most, here and, by its lease, anywhere. */
export class SessionActors implements SessionRuns {
  readonly #store: Store;
  readonly #settings: ActorSettings;
  readonly #deltas: DeltaHub;
  readonly #beside: Beside;
  readonly #watch: LeaseWatch;
  /** Without it, whoever finds that a session waits takes it. */
  readonly #calling: WorkerCall | undefined;
  readonly #actors = new Map<SessionId, Promise<SessionActor | undefined>>();
  /** Those of them that have been taken. */
  readonly #taken = new Set<SessionActor>();
  /** What is still to be done for sessions that were let go of. */
  readonly #afterwards = new Set<Promise<void>>();
  #stopLooking: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #stopping = false;

  constructor(store: Store, settings: ActorSettings, deltas: DeltaHub, beside: Beside) {
    this.#beside = beside;
    this.#store = store;
    this.#settings = settings;
    this.#deltas = deltas;
    const { fleet, leaseTtl, log, clock } = settings;
    this.#watch = new LeaseWatch(store.leases, { ttl: leaseTtl, givesUp: fleet !== undefined, log, clock });
    this.#calling = fleet && new WorkerCall(store, fleet, clock, (session, work) => this.#speak(session, work));
  }

  /** Takes up what dead writers left, now and from now on. */
  async start(): Promise<void> {
    this.#stopListening = this.#store.inbox.onPut((session) => this.#heard(session));
    await this.#lookAround();
    this.#watch.start();
    const { leaseTtl, fleet, clock } = this.#settings;
    const everyMs = fleet ? Math.min(LOOK_MS, leaseTtl / 2) : leaseTtl / 2;
    this.#stopLooking = clock.every(everyMs, () => void this.#lookAround());
  }

  /** Something waits for a session. Its holder looks, here or elsewhere; if there is none, one is called. */
  wake(session: SessionId): void {
    void this.#wake(session);
  }

  /**
   * Before something is put into its inbox: an engine of one command takes a session that nobody has. A server on the same
   * store, which has all loaded, would hear of the message and be quicker, and run it on what it was started with.
   */
  async claim(session: SessionId): Promise<void> {
    if (this.#settings.ownOnly) await this.#take(session);
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
      detail: "session_held",
    });
  }

  get load(): SessionRuns["load"] {
    const held = [...this.#taken].filter(({ row }) => !row.parked);
    return {
      held: held.length,
      busy: held.filter(({ canReleaseProcess }) => !canReleaseProcess).map(({ row }) => row.id),
    };
  }

  async advance(session: SessionId, signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < ADVANCE_TRIES && !signal.aborted && !this.#stopping; tries += 1) {
      const done = await this.#do(session, async (actor) => {
        // Somebody wanted to write a word; then it can be taken to run.
        if (actor.isOnlyWriting) return actor.ended;
        await actor.poke();
        return actor;
      });
      if (done?.result) return done.result.settled();
      if (!done) await sleep(this.#settings.clock, ADVANCE_PAUSE_MS, { signal, keepsProcess: true });
    }
  }

  async makeRoom(): Promise<boolean> {
    const free = [...this.#taken].filter(({ canReleaseProcess }) => canReleaseProcess);
    const actor = free.find(({ running }) => !running) ?? free[0];
    await actor?.leave();
    return actor?.gone ?? false;
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
    this.#stopLooking?.();
    await Promise.allSettled(this.#actors.values());
    await Promise.all([...this.#taken].map((actor) => this.#stopWithin(actor, deadlineMs)));
    await Promise.all(this.#afterwards);
    this.#watch.stop();
  }

  #heard(session: SessionId): void {
    // Whoever put it has called a worker.
    if (!this.#calling || this.#actors.has(session)) this.wake(session);
  }

  /** Never rejects: what could not be done now is done when somebody looks around next. */
  async #wake(session: SessionId): Promise<void> {
    if (this.#stopping) return;
    try {
      if (!this.#calling) await this.#do(session, (actor) => actor.poke());
      else if (!(await this.#poke(session))) await this.#calling.call(session);
    } catch (error) {
      this.#settings.log.warn({ session, error: String(error) }, "a session could not be taken up");
    }
  }

  /** False if it is not here, or about to leave. */
  async #poke(session: SessionId): Promise<boolean> {
    const actor = await this.#actors.get(session);
    if (!actor || actor.isOnlyWriting) return false;
    try {
      await actor.poke();
      return true;
    } catch (error) {
      if (!(error instanceof LeaseLost) || !actor.gone) throw error;
      await actor.ended;
      return false;
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
      } finally {
        if (actor.isOnlyWriting) void actor.leave();
      }
    }
  }

  async #speak(session: SessionId, work: (actor: SessionActor) => Promise<unknown>): Promise<void> {
    const actor = await this.#take(session, true);
    if (!actor) return;
    try {
      await work(actor);
    } finally {
      if (actor.isOnlyWriting) await actor.leave();
    }
  }

  async #take(session: SessionId, onlyWrites = false): Promise<SessionActor | undefined> {
    const present = this.#actors.get(session);
    if (present) return present;
    if (this.#stopping) throw new RequestError("unavailable", "The server is stopping.");
    const taking = this.#open(session, onlyWrites);
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

  async #open(session: SessionId, onlyWrites: boolean): Promise<SessionActor | undefined> {
    const { leaseTtl, holder, clock } = this.#settings;
    // What turns need is loaded with the first: who only opens sessions need not wait for it.
    const { SessionActor } = await import("./session-actor.ts");
    const since = clock.monotonic();
    const lease = await this.#store.leases.take(session, holder, leaseTtl);
    if (!lease) return undefined;
    const previews = this.#deltas.outlet(session);
    const mayRun = (row: SessionRow): boolean => !onlyWrites && this.#mayRun(row);
    try {
      const actor = await SessionActor.take(
        { store: this.#store, settings: this.#settings, previews, mayRun, ...this.#beside },
        lease,
      );
      this.#taken.add(actor);
      this.#watch.add(actor, since);
      void this.#forgetWhenGone(session, actor);
      return actor;
    } catch (error) {
      await this.#store.leases.release(lease);
      throw error;
    }
  }

  #mayRun({ place }: SessionRow): boolean {
    const { fleet } = this.#settings;
    return !fleet || fits({ ...fleet.worker, role: fleet.role }, place, fleet.tenant);
  }

  async #forgetWhenGone(session: SessionId, actor: SessionActor): Promise<void> {
    await actor.ended;
    this.#taken.delete(actor);
    this.#actors.delete(session);
    this.#deltas.forget(session);
    if (!this.#calling) return;
    const after = this.#calling.leftBehind(session).catch((error: unknown) => {
      this.#settings.log.warn({ session, error: String(error) }, "nobody could be called for a session");
    });
    this.#afterwards.add(after);
    void after.finally(() => this.#afterwards.delete(after));
  }

  #forget(session: SessionId, taking: Promise<SessionActor | undefined>): void {
    if (this.#actors.get(session) === taking) this.#actors.delete(session);
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
      const waiting = await this.#store.inbox.sessions();
      if (this.#calling) {
        for (const session of waiting) this.#heard(session);
        return await this.#calling.sweep();
      }
      const found = [...(await this.#store.leases.abandoned()), ...waiting];
      await Promise.all([...new Set(found)].map((session) => this.#wake(session)));
    } catch (error) {
      this.#settings.log.warn({ error: String(error) }, "the store could not be looked through");
    }
  }

  /** In a fleet, a running turn is handed over to another worker. */
  async #stopWithin(actor: SessionActor, deadlineMs: number): Promise<void> {
    const handsOver = this.#calling !== undefined;
    if (!handsOver) await actor.idle(deadlineMs);
    const giveUp = (): void =>
      actor.lost(new RequestError("unavailable", "The session could not be written before the server stopped."));
    const ms = LAST_WORDS_MS + (handsOver ? deadlineMs : 0);
    const cancel = this.#settings.clock.after(ms, giveUp, { keepsProcess: true });
    try {
      await Promise.race([handsOver ? actor.handOver(deadlineMs) : actor.stop("stopped"), actor.ended]);
      await actor.ended;
    } finally {
      cancel();
    }
  }
}
