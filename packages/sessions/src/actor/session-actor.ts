import {
  RequestError,
  type BackgroundTask,
  type Interruption,
  type SessionEventBody,
  type ThreadId,
  sleep,
} from "@tandem/protocol";
import { LeaseLost, type Lease, type SessionChange, type SessionRow, type ThreadRow } from "@tandem/storage";
import { DATABASE_WAIT_MS, DatabaseWait } from "../host/database-wait.ts";
import { waitingStore } from "../host/waiting-store.ts";
import { Timer } from "../host/timer.ts";
import type { Halt } from "../budgets/kill-switch.ts";
import type { ActorDependencies } from "./actor-dependencies.ts";
import { DatabaseAway } from "./database-away.ts";
import { isUnplaced } from "../fleet/worker-call.ts";
import { SerialQueue } from "../host/serial-queue.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { openWriter } from "./open-writer.ts";
import { errorDetail } from "../log/error-detail.ts";
import { TurnRunner } from "../turn/turn-runner.ts";
import { canReleaseProcess, isBusy, isWaiting } from "../turn/turn-state.ts";
import { giveUpTurn, haltTurn, interruptTurn, stopTurn } from "./end-turn.ts";
import { handOver } from "./hand-over.ts";
import { passInput } from "./pass-input.ts";
import { SessionInput } from "./session-input.ts";
import { TurnWaits } from "./turn-waits.ts";
import { needsNewProcess } from "../process/turn-options.ts";
import type { UsageLedger } from "../log/usage-ledger.ts";
import { checkNoOpenRun } from "../workflows/check-no-open-run.ts";
import type { OpenRuns } from "../log/open-runs.ts";

/** Default for how long a waiting approval keeps its process. A later answer starts a new one. */
const WAITING_MS = 10 * 60 * 1_000;

/** How long it takes at most to save a new approval request, after which it can be answered without its process. */
const SAVE_REQUEST_MS = 2_000;

interface Changed {
  change: SessionChange;
  events: SessionEventBody[];
}

/**
 * The single writer of a session while this process holds its lease. It takes input from the session's queue and runs its
 * turns. Steps run one after the other; output of the conversation is written as it arrives.
 */
export class SessionActor {
  readonly lease: Lease;
  readonly #dependencies: ActorDependencies;
  readonly #writer: SessionWriter;
  readonly #input: SessionInput;
  readonly #runner: TurnRunner;
  readonly #serial = new SerialQueue();
  readonly #timer: Timer;
  readonly #ended = Promise.withResolvers<void>();
  /** Resolves when the session is released and its process has ended. */
  readonly ended = this.#ended.promise;
  readonly #waits = new TurnWaits();
  readonly #database: DatabaseWait;
  /** Why the session was given up here, if its next writer cannot know. */
  loss: string | undefined;
  #gone = false;
  #isStopping = false;
  #isFinishing = false;
  /** Whether its process was started before there is a message. */
  #isReopened = false;
  /** Whether other workers run the turns, and this one only writes. */
  readonly isOnlyWriting: boolean;

  private constructor(dependencies: ActorDependencies, lease: Lease, writer: SessionWriter, ledger: UsageLedger) {
    this.#dependencies = dependencies;
    this.#timer = new Timer(dependencies.settings.clock);
    this.lease = lease;
    this.#writer = writer;
    this.#input = new SessionInput(dependencies.store.inputQueue, writer);
    this.isOnlyWriting = !dependencies.mayRun(writer.row);
    const { clock, databaseWait = DATABASE_WAIT_MS } = dependencies.settings;
    this.#database = new DatabaseWait(clock, databaseWait);
    this.#runner = new TurnRunner({
      ...dependencies,
      store: waitingStore(dependencies.store, this.#database),
      database: this.#database,
      lease,
      writer,
      ledger,
      next: (step) => void this.#serial.run(step).catch((error: unknown) => this.#giveUp(error)),
      giveUp: (error) => this.#giveUp(error),
      look: () => this.#unattended(this.poke()),
      takeInput: () => this.#takeInput(),
      hasMessage: async () => !this.#isStopping && !this.#isFinishing && (await this.#input.hasMessage()),
      onBegin: () => {
        this.#isReopened = false;
        this.#timer.clear();
        this.#runner.process.setBusy();
      },
      onWaiting: () => {
        const { approvals } = dependencies.settings;
        if (canReleaseProcess(this.#runner.state) && this.#writer.runs.size === 0) {
          this.#leaveAfter(approvals?.keepProcess ?? WAITING_MS);
          if (this.#runner.tasks.length === 0) this.#runner.process.setIdle(this.leave, true);
        }
        this.#waits.tellIdle();
      },
      onEnd: () => {
        dependencies.spares()?.want(this.row);
        this.#leaveAfter(dependencies.settings.idle);
        this.#runner.process.setIdle(this.leave, false);
        this.#waits.tellIdle();
      },
      onStep: () => this.#waits.tellStep(),
    });
  }

  /** Takes over a session under a lease. An open turn of its last writer is closed or continued. */
  static async take(dependencies: ActorDependencies, lease: Lease): Promise<SessionActor> {
    const { store, settings } = dependencies;
    let actor: SessionActor | undefined;
    const { writer, ledger } = await openWriter(dependencies, lease, (error) => actor?.lost(error));
    actor = new SessionActor(dependencies, lease, writer, ledger);
    actor.#leaveAfter(settings.idle);
    try {
      if (!actor.isOnlyWriting && settings.fleet && (await isUnplaced(store, lease.session))) {
        await writer.write([{ type: "tandem.placed", worker: settings.holder }]);
      }
      if (!actor.isOnlyWriting) await actor.#runner.inherit();
    } catch (error) {
      actor.lost(error);
      throw error;
    }
    return actor;
  }

  get row(): SessionRow {
    return this.#writer.row;
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#runner.tasks;
  }

  get running(): boolean {
    return this.#runner.running;
  }

  get runs(): OpenRuns {
    return this.#writer.runs;
  }

  /** Whether a turn is making progress. */
  get busy(): boolean {
    return isBusy(this.#runner.state);
  }

  /** Whether the session can be released without loss. A turn in a quota wait would be resumed at once. */
  get canReleaseProcess(): boolean {
    const { state } = this.#runner;
    if (this.#gone || isBusy(state) || this.row.parked || this.#writer.runs.size > 0) return false;
    return state.type === "idle" || canReleaseProcess(state);
  }

  threadOf(thread: ThreadId): ThreadRow | undefined {
    return this.#writer.threadOf(thread);
  }

  /** Whether it has released or lost the session. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Whether its process waits for a first message. */
  get isReopened(): boolean {
    return this.#isReopened;
  }

  /** Resolves when no process of the session is left here, after its end. */
  processEnded(): Promise<void> {
    return this.#runner.process.exited();
  }

  /** Starts the process before there is a message. It is released like that of an idle session. */
  reopen(): Promise<void> {
    return this.#step(async () => {
      if (this.running || this.isOnlyWriting || this.#isStopping) return;
      this.#isReopened = true;
      this.#leaveAfter(this.#dependencies.settings.idle);
      const start = async (): Promise<void> => {
        await this.#runner.reopen();
        if (this.#isReopened) this.#runner.process.setIdle(this.leave, false);
      };
      // A message must not wait behind it.
      this.#unattended(start());
    });
  }

  /** Checks the input queue. */
  poke(): Promise<void> {
    return this.#step(() => this.#takeInput());
  }

  /** Removes a queued message. False if it is not queued, or on its way to the agent. */
  takeBack(id: string, by?: string): Promise<boolean> {
    return this.#step(() => this.#input.takeBack(id, by, (message) => this.#runner.isSteeredBy(message)));
  }

  /** Changes the session's row and logs it. A changed agent, setting or resource takes effect in the next turn's process. */
  change(make: (row: SessionRow) => Changed | Promise<Changed>): Promise<SessionRow> {
    return this.#step(async () => {
      const { metadata: before } = this.row;
      const { change, events } = await make(this.row);
      await this.#writer.write(events, change);
      const isFixed = change.metadata && needsNewProcess(before, change.metadata);
      if (change.agent || change.resources || isFixed) await this.#runner.refresh();
      return this.row;
    });
  }

  /** Runs work between turns, while no process has the conversation open. */
  atRest<T>(work: (writer: SessionWriter) => Promise<T>): Promise<T> {
    return this.#step(async () => {
      if (this.running) {
        throw new RequestError("conflict", `A turn of the session ${this.lease.session} is running.`, {
          fix: "Interrupt it, or wait until it is idle.",
        });
      }
      await this.#runner.close();
      return work(this.#writer);
    });
  }

  /** Makes the session read-only. */
  archive(by?: string): Promise<SessionRow> {
    return this.#finish(async () => {
      await this.#runner.ending.endOutcome("The session was archived.");
      await this.#input.drop(await this.#input.list(), "the session is archived");
      const terminated = { type: "session.status_terminated" as const, ...(by !== undefined && { tandem: { by } }) };
      await this.#writer.write([terminated], { status: "terminated", waitingFor: [], archivedAt: this.#writer.now });
      return this.row;
    });
  }

  /** Deletes the session after its files. If that fails, it stays. */
  delete(removeOwn: (row: SessionRow) => Promise<void>): Promise<void> {
    return this.#finish(async () => {
      await removeOwn(this.row);
      await this.#writer.write([{ type: "session.deleted" }]);
      await this.#dependencies.store.sessions.delete(this.lease);
      this.#abandon(new RequestError("not_found", `There is no session ${this.lease.session}.`));
    });
  }

  async stopTask(id: string): Promise<void> {
    await this.#runner.stopTask(id);
  }

  /** Ends the turn and the process at once and logs why. A turn that waits for a person keeps waiting. True if a turn ended. */
  halt(halt: Halt): Promise<boolean> {
    return this.#step(() => haltTurn(this.#runner, this.#writer, halt));
  }

  /** Takes no new input. Resolves when no turn makes progress, or the time is over. */
  async idle(withinMs: number): Promise<void> {
    this.#isStopping = true;
    if (!this.busy) return;
    // Wait until a new approval request is saved: then it can be answered later.
    const ms = isWaiting(this.#runner.state) ? Math.max(withinMs, SAVE_REQUEST_MS) : withinMs;
    await Promise.race([this.#waits.idle(), sleep(this.#dependencies.settings.clock, ms)]);
  }

  /** Resolves when no turn makes progress, or the session was released or lost. */
  async settled(): Promise<void> {
    while (this.busy && !this.#gone) await Promise.race([this.#waits.idle(), this.ended]);
  }

  /** Hands a running turn over to another worker: between two steps, or wherever it is at the deadline. */
  handOver(withinMs: number): Promise<void> {
    this.#isStopping = true;
    return handOver(this, {
      clock: this.#dependencies.settings.clock,
      withinMs,
      runner: this.#runner,
      waits: this.#waits,
      leave: (check) => this.#serial.run(async () => void ((await check()) && (await this.#leave()))),
    });
  }

  /** Ends a turn that no worker could continue, and logs why. Queued input stays queued. */
  giveUp(error: unknown): Promise<void> {
    return this.#step(() => giveUpTurn(this.#runner, this.#writer, { error, isInherited: !this.isOnlyWriting }));
  }

  /** Releases the session unless it is busy by now. */
  readonly leave = (): Promise<void> => this.#serial.run(() => this.#leave());

  /** Releases process and lease. A waiting turn stays open for the next writer. */
  stop(why: Interruption): Promise<void> {
    this.#isStopping = true;
    return this.#serial.run(async () => {
      await stopTurn(this.#runner, why);
      await this.#leave();
    });
  }

  /** The lease may expire before the database is back: suspend the process, so that it does nothing meanwhile. */
  pause(): void {
    if (!this.#gone) this.#runner.pause();
  }

  /** The lease is still held. */
  unpause(): void {
    if (!this.#gone) this.#runner.unpause();
  }

  /** The lease is lost or the session cannot be written: end the process, write nothing. */
  lost(error: unknown = new LeaseLost(this.lease.session)): void {
    if (this.#gone) return;
    if (error instanceof DatabaseAway) this.loss = error.message;
    this.#warn(error, "a session was lost");
    this.#abandon(error);
  }

  #abandon(error: unknown): void {
    this.#gone = true;
    this.#timer.clear();
    this.#database.stop();
    this.#writer.abandon(error);
    this.#unattended(this.#runner.abandon().finally(this.#ended.resolve));
  }

  /** Ends an open turn, then runs the last step before any other input is taken. */
  #finish<T>(last: () => Promise<T>): Promise<T> {
    return this.#step(async () => {
      this.#isFinishing = true;
      try {
        if (this.isOnlyWriting) await this.#runner.inherit(true);
        checkNoOpenRun(this.#writer.runs);
        await interruptTurn(this.#runner);
        return await last();
      } finally {
        this.#isFinishing = false;
        if (!this.#gone) this.#unattended(this.poke());
      }
    });
  }

  #step<T>(work: () => Promise<T>): Promise<T> {
    return this.#serial.run(() => {
      if (this.#gone) throw new LeaseLost(this.lease.session);
      return work();
    });
  }

  /** A turn could stay open for ever. Its process is ended, and the next look of a server finds and recovers it. */
  #giveUp(error: unknown): void {
    if (this.#gone) return;
    if (!this.busy) return this.#warn(error, "a step of a session failed");
    this.loss = `The server could not continue the turn: ${errorDetail(error).message}`;
    this.lost(error);
    this.#unattended(this.ended.then(() => this.#dependencies.store.leases.release(this.lease)));
  }

  /** A failed background step must not end the server. A session that cannot be written reports itself as lost. */
  #unattended(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.#gone) this.#warn(error, "a step of a session failed");
    });
  }

  #warn(error: unknown, message: string): void {
    this.#dependencies.settings.log.warn({ session: this.lease.session, error: String(error) }, message);
  }

  async #takeInput(): Promise<void> {
    if (this.#gone || this.#isStopping || this.#isFinishing || this.isOnlyWriting) return;
    const waiting = await this.#input.list();
    // Resuming after the kill switch wakes every session with queued input.
    if (waiting.length > 0 && (await this.#dependencies.halted())) return;
    if (this.row.archivedAt) return this.#input.drop(waiting, "the session is archived");
    await passInput(waiting, { input: this.#input, runner: this.#runner, writer: this.#writer });
  }

  #leaveAfter(ms: number): void {
    this.#timer.set(ms, () => this.#unattended(this.#serial.run(() => this.#leave())));
  }

  /** Releases process and lease. The next message resumes the session. */
  async #leave(): Promise<void> {
    if (this.#gone || this.busy) return;
    this.#timer.clear();
    await this.#runner.release();
    await this.#writer.drained();
    this.#gone = true;
    try {
      await this.#dependencies.store.leases.release(this.lease);
    } finally {
      this.#ended.resolve();
    }
  }
}
