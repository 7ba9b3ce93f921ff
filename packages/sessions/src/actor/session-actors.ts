import { RequestError, type SessionId, sleep } from "@tandem/protocol";
import { type Lease, LeaseLost, type SessionRow } from "@tandem/storage";
import type { Halt } from "../budgets/kill-switch.ts";
import type { DeltaHub } from "../log/delta-hub.ts";
import { WorkerCall } from "../fleet/worker-call.ts";
import { DATABASE_WAIT_MS, isDatabaseAway } from "../host/database-wait.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { fits } from "../fleet/place.ts";
import type { SessionRuns } from "../fleet/session-runs.ts";
import type { ActorDependencies } from "./actor-dependencies.ts";
import type { SessionActor } from "./session-actor.ts";
import { stopActor } from "./stop-actor.ts";

/** Sessions that are remembered as not used since they were opened. */
const MAX_UNUSED = 1_000;
/** How often a fleet checks for sessions without a worker. A takeover waits for this check. */
const LOOK_MS = 2_000;
/** A process that holds a session only to write an event releases it soon. */
const ADVANCE_TRIES = 20;
const ADVANCE_PAUSE_MS = 100;

type ActorsDependencies = Omit<ActorDependencies, "mayRun" | "previews"> & { deltas: DeltaHub };

/** The sessions that this process writes. The lease ensures that a session has at most one actor anywhere. */
export class SessionActors implements SessionRuns {
  readonly #dependencies: ActorsDependencies;
  readonly #watch: LeaseWatch;
  /** Only in a fleet. Without it, each process takes the sessions whose input it finds. */
  readonly #workerCall: WorkerCall | undefined;
  readonly #actors = new Map<SessionId, Promise<SessionActor | undefined>>();
  /** Actors that hold their lease. */
  readonly #taken = new Set<SessionActor>();
  /** Why sessions were given up here, for the next writer if that is this process. */
  readonly #losses = new Map<SessionId, string>();
  /**
   * Sessions that Postgres may have given to this process late: the answer was lost, or came after a promise to take over nothing.
   * The process of their former holder may still be there, so such a lease is left to expire.
   */
  readonly #doubted = new Set<SessionId>();
  /** The holders of sessions with input that this process could not take. */
  readonly #heldElsewhere = new Map<SessionId, string>();
  /** Sessions whose reopened process got no message, with the time of their last change. */
  readonly #unused = new Map<SessionId, string>();
  /** Work that is pending for released sessions. */
  readonly #afterwards = new Set<Promise<void>>();
  #stopLooking: (() => void) | undefined;
  #stopListening: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #halting: { at: string; count: Promise<number> } | undefined;
  #stopping = false;

  constructor(dependencies: ActorsDependencies) {
    this.#dependencies = dependencies;
    const { store, settings } = dependencies;
    const { fleet, leaseTtl, databaseWait = DATABASE_WAIT_MS, log, clock } = settings;
    const findContested = fleet && ((rows: readonly SessionRow[]) => fleet.peers.contested(rows, fleet.tenant));
    this.#watch = new LeaseWatch(store.leases, { ttl: leaseTtl, waitMs: databaseWait, findContested, log, clock });
    this.#workerCall = fleet && new WorkerCall(store, fleet, clock, (session, work) => this.#speak(session, work));
  }

  /** Takes over sessions of dead writers, now and repeatedly. */
  async start(): Promise<void> {
    this.#stopListening = this.#dependencies.store.inputQueue.onPut((session) => this.#heard(session));
    await this.#lookAround();
    this.#watch.start();
    const { leaseTtl, fleet, clock } = this.#dependencies.settings;
    const everyMs = fleet ? Math.min(LOOK_MS, leaseTtl / 2) : leaseTtl / 2;
    this.#stopLooking = clock.every(everyMs, () => void this.#lookAround());
  }

  /** A session has input. Its holder takes it, here or elsewhere; without a holder, a worker is called. */
  wake(session: SessionId): void {
    void this.#wake(session);
  }

  /**
   * Called before input is queued. The engine of a single command takes a free session first: a server on the same store
   * would react faster and run the input with its own settings.
   */
  async claim(session: SessionId): Promise<void> {
    if (this.#dependencies.settings.ownOnly) await this.#take(session);
  }

  /** The session's actor if this process holds it. */
  async present(session: SessionId): Promise<SessionActor | undefined> {
    return this.#actors.get(session);
  }

  /**
   * A client that may send messages looks at the session: its process is started, so that a message need not wait for it. If
   * none came the last time, it is not started again. Never rejects.
   */
  async reopen(session: SessionId): Promise<void> {
    const spares = this.#dependencies.spares();
    if (!spares || this.#stopping || this.#actors.has(session)) return;
    try {
      const row = await this.#dependencies.store.sessions.get(session);
      if (!row || this.#unused.get(session) === row.updatedAt || !(await spares.mayReopen(row))) return;
      const waiting = [...this.#taken].filter(({ isReopened }) => isReopened);
      if (waiting.length >= spares.mostReopened) await waiting[0]!.leave();
      await this.#do(session, (actor) => actor.reopen());
    } catch (error) {
      this.#dependencies.settings.log.warn({ session, error: String(error) }, "a session was not reopened");
    }
  }

  /** Runs work as the session's writer. Rejects with `conflict` while another process holds it. */
  async with<T>(session: SessionId, work: (actor: SessionActor) => Promise<T>): Promise<T> {
    const done = await this.#do(session, work);
    if (done) return done.result;
    const held = await this.#dependencies.store.leases.holder(session);
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
        // Another caller is only writing an event. Wait for it, then take the session to run it.
        if (actor.isOnlyWriting) return actor.ended;
        await actor.poke();
        return actor;
      });
      if (done?.result) return done.result.settled();
      if (!done) await sleep(this.#dependencies.settings.clock, ADVANCE_PAUSE_MS, { signal, keepsProcess: true });
    }
  }

  async endTaken({ session, token }: Pick<Lease, "session" | "token">): Promise<void> {
    const actor = await this.#actors.get(session);
    if (!actor || actor.lease.token >= token) return;
    actor.lost(new LeaseLost(session, `${session} is released: another worker has taken it over.`));
    await actor.processEnded();
  }

  async makeRoom(): Promise<boolean> {
    const free = [...this.#taken].filter(({ canReleaseProcess }) => canReleaseProcess);
    const actor = free.find(({ running }) => !running) ?? free[0];
    await actor?.leave();
    return actor?.gone ?? false;
  }

  /**
   * Ends every turn and process. Resolves with how many turns this halt has ended when all are gone: the periodic check may
   * have applied it before the caller that engaged it.
   */
  async halt(halt: Halt): Promise<number> {
    const before = this.#halting;
    const ended = Promise.all([...this.#taken].map((actor) => actor.halt(halt).catch(() => false)));
    const count = (async () => {
      const known = await before?.count;
      return (before?.at === halt.at ? (known ?? 0) : 0) + (await ended).filter(Boolean).length;
    })();
    this.#halting = { at: halt.at, count };
    return count;
  }

  /** Wakes all sessions with input. A check that is under way may have read an older state, so another one follows. */
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
    const { clock } = this.#dependencies.settings;
    const how = { clock, handsOver: this.#workerCall !== undefined, withinMs: deadlineMs };
    await Promise.all([...this.#taken].map((actor) => stopActor(actor, how)));
    await Promise.all(this.#afterwards);
    this.#watch.stop();
  }

  #heard(session: SessionId): void {
    // The sender has called a worker.
    if (!this.#workerCall || this.#actors.has(session)) this.wake(session);
  }

  /** Never rejects: the next check retries. */
  async #wake(session: SessionId): Promise<void> {
    if (this.#stopping) return;
    try {
      if (!this.#workerCall) {
        const done = await this.#do(session, (actor) => actor.poke());
        if (done) this.#heldElsewhere.delete(session);
        else await this.#logHolder(session);
      } else if (!(await this.#poke(session))) await this.#workerCall.call(session);
    } catch (error) {
      this.#dependencies.settings.log.warn({ session, error: String(error) }, "a session could not be resumed");
    }
  }

  /** Once per holder: the check repeats every few seconds. */
  async #logHolder(session: SessionId): Promise<void> {
    const { store, settings } = this.#dependencies;
    const holder = (await store.leases.holder(session))?.holder;
    if (holder === undefined || this.#heldElsewhere.get(session) === holder) return;
    this.#heldElsewhere.set(session, holder);
    settings.log.warn({ session, holder }, "input waits: another process holds the session");
  }

  /** False if the session is not held here, or about to be released. */
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

  /** Undefined if another process holds the session. An actor that is being released is awaited and replaced. */
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
    const { leaseTtl, clock } = this.#dependencies.settings;
    // Loaded with the first session: commands that only read need not wait for it.
    const { SessionActor } = await import("./session-actor.ts");
    let since = clock.monotonic();
    const { outage, peers } = this.#dependencies.settings.fleet ?? {};
    // Other workers had no database either: for one lease duration, they may renew leases that have expired meanwhile.
    const onlyReleased = outage?.isWithin(leaseTtl) ?? false;
    const isDoubted = this.#doubted.has(session);
    if (onlyReleased && isDoubted) return undefined;
    const lease = await this.#takeLease(session, { onlyReleased });
    if (!lease) return undefined;
    if (outage?.hasPromisedSince(since)) {
      this.#doubted.add(session);
      return undefined;
    }
    const previews = this.#dependencies.deltas.sink(session);
    const mayRun = (row: SessionRow): boolean => !onlyWrites && this.#mayRun(row);
    try {
      // The former holder may have no database, and not know this worker: its suspended process would exist beside the next one.
      // After a doubtful take, it was this process itself.
      if (peers && (lease.former !== undefined || isDoubted)) {
        await peers.ended(lease.former, lease);
        since = clock.monotonic();
        if ((await this.#dependencies.store.leases.renew([lease], leaseTtl)).length > 0) return undefined;
      }
      const lastLoss = this.#losses.get(session) ?? this.#outage;
      const actor = await SessionActor.take(
        { ...this.#dependencies, previews, mayRun, ...(lastLoss !== undefined && { lastLoss }) },
        lease,
      );
      this.#losses.delete(session);
      this.#taken.add(actor);
      this.#watch.add(actor, since);
      void this.#forgetWhenGone(session, actor);
      return actor;
    } catch (error) {
      await this.#dependencies.store.leases.release(lease);
      throw error;
    }
  }

  async #takeLease(session: SessionId, options: { onlyReleased: boolean }): Promise<Lease | undefined> {
    const { holder, leaseTtl } = this.#dependencies.settings;
    try {
      const lease = await this.#dependencies.store.leases.take(session, holder, leaseTtl, options);
      this.#doubted.delete(session);
      return lease;
    } catch (error) {
      if (isDatabaseAway(error)) this.#doubted.add(session);
      throw error;
    }
  }

  #mayRun({ place }: SessionRow): boolean {
    const { fleet } = this.#dependencies.settings;
    return !fleet || fits({ ...fleet.worker, role: fleet.role }, place, fleet.tenant);
  }

  async #forgetWhenGone(session: SessionId, actor: SessionActor): Promise<void> {
    await actor.ended;
    if (actor.loss !== undefined) this.#losses.set(session, actor.loss);
    if (this.#unused.size >= MAX_UNUSED) this.#unused.clear();
    if (actor.isReopened) this.#unused.set(session, actor.row.updatedAt);
    this.#taken.delete(actor);
    this.#actors.delete(session);
    this.#dependencies.deltas.forget(session);
    if (!this.#workerCall) return;
    const after = this.#workerCall.leftBehind(session).catch((error: unknown) => {
      this.#dependencies.settings.log.warn(
        { session, error: String(error) },
        "no worker could be called for a session",
      );
    });
    this.#afterwards.add(after);
    void after.finally(() => this.#afterwards.delete(after));
  }

  #forget(session: SessionId, taking: Promise<SessionActor | undefined>): void {
    if (this.#actors.get(session) === taking) this.#actors.delete(session);
  }

  /** Why the last worker may have given up a session, if the database was away a short time ago. */
  get #outage(): string | undefined {
    const { fleet, databaseWait = DATABASE_WAIT_MS } = this.#dependencies.settings;
    if (!fleet?.outage.isWithin(databaseWait)) return undefined;
    return "The database did not answer for a while, and the worker that ran the turn did not return in time.";
  }

  /** Finds sessions whose writer died, and input that woke no actor. */
  #lookAround(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    try {
      // The kill switch may have been engaged at another server.
      const halt = await this.#dependencies.halted();
      if (halt) await this.halt(halt);
      const waiting = await this.#dependencies.store.inputQueue.sessions();
      this.#dependencies.settings.fleet?.outage.end();
      if (this.#workerCall) {
        for (const session of waiting) this.#heard(session);
        return await this.#workerCall.sweep();
      }
      const found = [...(await this.#dependencies.store.leases.abandoned()), ...waiting];
      await Promise.all([...new Set(found)].map((session) => this.#wake(session)));
    } catch (error) {
      if (isDatabaseAway(error)) this.#dependencies.settings.fleet?.outage.begin();
      this.#dependencies.settings.log.warn({ error: String(error) }, "the store could not be looked through");
    }
  }
}
