import { setTimeout as sleep } from "node:timers/promises";
import {
  RequestError,
  type BackgroundTask,
  type Interruption,
  type SessionEvent,
  type SessionEventBody,
} from "@tandem/protocol";
import { LeaseLost, type Lease, type SessionChange, type SessionRow, type Store } from "@tandem/storage";
import { Timer } from "../host/timer.ts";
import type { SessionCommands } from "../commands/session-commands.ts";
import { haltText, type Halt } from "../budgets/kill-switch.ts";
import type { ActorSettings } from "./actor-settings.ts";
import { isUnplaced } from "../fleet/worker-call.ts";
import type { OwnLimits } from "../fleet/own-limits.ts";
import { isCancelled } from "./is-cancelled.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import type { PreviewSink } from "../log/outbox.ts";
import type { Rules } from "../rules/rules.ts";
import { SerialQueue } from "../host/serial-queue.ts";
import { SessionWriter } from "../log/session-writer.ts";
import type { Accompany } from "../hooks/turn-hook.ts";
import { errorDetail } from "../log/error-detail.ts";
import { interruptedTurn, turnFailure } from "../turn/turn-failure.ts";
import { TurnRunner } from "../turn/turn-runner.ts";
import { TurnWaits } from "./turn-waits.ts";
import { needsNewProcess } from "../process/turn-options.ts";
import { UsageLedger } from "../log/usage-ledger.ts";
import { isAnswer } from "../approvals/pending-approvals.ts";

export interface ActorDependencies {
  store: Store;
  settings: ActorSettings;
  previews: PreviewSink;
  /** Whether everything is stopped. */
  halted: () => Promise<Halt | undefined>;
  /** Who goes along with the session's turns. */
  accompany: Accompany;
  commands: Pick<SessionCommands, "prepare">;
  rules: Rules;
  definitions: ToolDefinitions;
  /** Whether this process may run turns of a session; if not, it only writes what does not need one. */
  mayRun: (row: SessionRow) => boolean;
  /** Quotas of the account that turns run on. */
  limits: OwnLimits;
}

/** A process that waits for a person is given back after this, where nothing else is said; the answer finds another. */
const WAITING_MS = 10 * 60 * 1_000;

/** A question that has come up takes so long at most until it is kept, and can be answered without its process. */
const ASKED_MS = 2_000;

const TERMINATED: SessionChange = { status: "terminated", waitingFor: [] };

/**
 * The one writer of a session while this process holds its lease: takes what waits in the inbox, and lets the session's
 * turns run. All steps are done one after the other; what comes out of the conversation is written as it comes.
 */
export class SessionActor {
  readonly lease: Lease;
  readonly #around: ActorDependencies;
  readonly #writer: SessionWriter;
  readonly #runner: TurnRunner;
  readonly #serial = new SerialQueue();
  readonly #alarm = new Timer();
  readonly #ended = Promise.withResolvers<void>();
  readonly #waits = new TurnWaits();
  #gone = false;
  #isStopping = false;
  #isFinishing = false;
  /** Whether it takes messages, and has taken up what a former writer left. */
  readonly #runs: boolean;

  private constructor(around: ActorDependencies, lease: Lease, writer: SessionWriter, ledger: UsageLedger) {
    this.#around = around;
    this.lease = lease;
    this.#writer = writer;
    this.#runs = around.mayRun(writer.row);
    this.#runner = new TurnRunner({
      ...around,
      lease,
      writer,
      ledger,
      next: (step) => this.#unattended(this.#serial.run(step)),
      look: () => this.#takeInbox(),
      hasMessage: () => this.#hasMessage(),
      onBegin: () => this.#alarm.clear(),
      onWaiting: () => {
        if (this.#runner.canReleaseProcess) this.#leaveAfter(around.settings.approvals?.keepProcess ?? WAITING_MS);
        this.#waits.tellIdle();
      },
      onEnd: () => {
        this.#leaveAfter(around.settings.idle);
        this.#waits.tellIdle();
      },
      onStep: () => this.#waits.tellStep(),
    });
  }

  /** Takes a session over under a lease: what its last writer left open is closed, or goes on. */
  static async take(around: ActorDependencies, lease: Lease): Promise<SessionActor> {
    const { store, settings } = around;
    const row = await store.sessions.get(lease.session);
    if (!row) throw new RequestError("not_found", `There is no session ${lease.session}.`);
    const [last] = await store.events.read(row.id, { order: "desc", limit: 1, types: ["session.usage"] });
    const note = last?.event.type === "session.usage" ? last.event.tandem : undefined;
    const ledger = new UsageLedger(row.primaryThread, { note, activeMs: row.activeMs });
    let actor: SessionActor | undefined;
    const writer = new SessionWriter({
      ...around,
      lease,
      row,
      ledger,
      threads: await store.sessions.threads(row.id),
      onLost: (error) => actor?.lost(error),
    });
    actor = new SessionActor(around, lease, writer, ledger);
    actor.#leaveAfter(settings.idle);
    try {
      if (actor.#runs && settings.fleet && (await isUnplaced(store, row.id))) {
        await writer.write([{ type: "tandem.placed", worker: settings.holder }]);
      }
      if (actor.#runs) await actor.#runner.inherit();
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

  /** Whether it does something that would be missed: a turn runs, and waits for nobody. */
  get busy(): boolean {
    return this.running && !this.#runner.isApprovalAnnounced;
  }

  /** Whether nothing is missed if it leaves: what waits for a quota would be taken up again at once. */
  get canReleaseProcess(): boolean {
    return !this.#gone && !this.busy && !this.row.parked && (!this.running || this.#runner.canReleaseProcess);
  }

  /** Whether it only writes: turns are for others. */
  get isOnlyWriting(): boolean {
    return !this.#runs;
  }

  /** Whether it writes nothing any more. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Resolves when it is gone, and its process too. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Looks into the inbox. */
  poke(): Promise<void> {
    return this.#step(() => this.#takeInbox());
  }

  /** Lets a message that waits begin no turn. False if it does not wait, or is on its way to the agent. */
  takeBack(id: string, by?: string): Promise<boolean> {
    return this.#step(async () => {
      const message = (await this.#inbox()).find((event) => event.id === id && event.type === "user.message");
      if (!message || this.#runner.isSteeredBy(message.id)) return false;
      await this.#drop([message], by === undefined ? "taken back" : `taken back by ${by}`);
      return true;
    });
  }

  /** Changes the session's row and says so in the log. A changed agent or setting gets a new process with the next turn. */
  change(make: (row: SessionRow) => { change: SessionChange; events: SessionEventBody[] }): Promise<SessionRow> {
    return this.#step(async () => {
      const { metadata: before } = this.row;
      const { change, events } = make(this.row);
      await this.#writer.write(events, change);
      const isFixed = change.metadata && needsNewProcess(before, change.metadata);
      if (change.agent || isFixed) await this.#runner.refresh();
      return this.row;
    });
  }

  /** Does something between turns: none runs, none begins, and no process has the conversation. */
  atRest<T>(work: (writer: SessionWriter) => Promise<T>): Promise<T> {
    return this.#step(async () => {
      if (this.running) {
        throw new RequestError("conflict", `A turn of the session ${this.lease.session} is under way.`, {
          fix: "Interrupt it, or wait until it is idle.",
        });
      }
      await this.#runner.close();
      return work(this.#writer);
    });
  }

  /** From now on it can only be read. */
  archive(by?: string): Promise<SessionRow> {
    return this.#finish(async () => {
      await this.#drop(await this.#inbox(), "the session is archived");
      const archivedAt = new Date().toISOString();
      const terminated = { type: "session.status_terminated" as const, ...(by !== undefined && { tandem: { by } }) };
      await this.#writer.write([terminated], { ...TERMINATED, archivedAt });
      return this.row;
    });
  }

  /** Takes it away, after what is its own. Where that cannot be, it stays. */
  delete(removeOwn: (row: SessionRow) => Promise<void>): Promise<void> {
    return this.#finish(async () => {
      await removeOwn(this.row);
      await this.#writer.write([{ type: "session.deleted" }]);
      await this.#around.store.sessions.delete(this.lease);
      this.#abandon(new RequestError("not_found", `There is no session ${this.lease.session}.`));
    });
  }

  async stopTask(id: string): Promise<void> {
    await this.#runner.stopTask(id);
  }

  /** Ends the turn and the process at once, and says why. One that waits for a person is left to wait. True if a turn was ended. */
  halt(halt: Halt): Promise<boolean> {
    return this.#step(async () => {
      const isAsked = this.row.waitingFor.length > 0;
      const isRunning = this.running && !isAsked;
      if (isRunning) await this.#writer.write([{ type: "tandem.notice", level: "warning", text: haltText(halt) }]);
      await this.#runner.close(this.running && isAsked ? "left" : "ended");
      if (isRunning) await this.#runner.end(interruptedTurn(), "stopped");
      return isRunning;
    });
  }

  /** From now on it takes nothing new. Resolves when no turn is running or can go on, or the time is over. */
  async idle(withinMs: number): Promise<void> {
    this.#isStopping = true;
    if (!this.running || this.#runner.isApprovalAnnounced) return;
    // What is about to be asked is worth a moment: then it can be answered later.
    const ms = this.#runner.waits ? Math.max(withinMs, ASKED_MS) : withinMs;
    await Promise.race([this.#waits.idle(), sleep(ms, undefined, { ref: false })]);
  }

  /** Resolves when no turn is running, one waits for somebody, or the session is not this process's any more. */
  async settled(): Promise<void> {
    while (this.busy && !this.#gone) await Promise.race([this.#waits.idle(), this.ended]);
  }

  /** Lets go, and leaves a turn that is running to others: between two steps, or where it is when the time is over. */
  async handOver(withinMs: number): Promise<void> {
    this.#isStopping = true;
    const late = AbortSignal.timeout(withinMs);
    while (!this.#gone) {
      const isHere = !this.busy || this.#runner.isBetweenSteps || late.aborted;
      if (!isHere) await Promise.race([this.#waits.step(late), this.ended]);
      // What Claude Code has said is heard meanwhile: the model may have gone on with the next step.
      if (this.busy) await this.#runner.caughtUp();
      await this.#serial.run(async () => {
        if (this.#gone || (this.busy && !this.#runner.isBetweenSteps && !late.aborted)) return;
        if (this.busy) await this.#runner.handOver();
        await this.#leave();
      });
    }
  }

  /** Ends a turn that nobody could go on with, and says why. What waits in the inbox stays there. */
  giveUp(error: unknown): Promise<void> {
    return this.#step(async () => {
      const wasRunning = this.row.status === "running" || this.row.status === "rescheduling";
      if (wasRunning && !this.#runs) await this.#runner.inherit(true);
      if (wasRunning && this.running) return this.#runner.end(turnFailure(error), "crash");
      await this.#writer.write([{ type: "session.error", error: errorDetail(error) }]);
    });
  }

  /** Lets go, unless it is busy by now. */
  readonly leave = (): Promise<void> => this.#serial.run(() => this.#leave());

  /** Lets go of process and lease. A turn that waits for somebody stays open, for whoever takes the session up next. */
  stop(why: Interruption): Promise<void> {
    this.#isStopping = true;
    return this.#serial.run(async () => {
      if (this.running && !this.#runner.isApprovalAnnounced) {
        await this.#runner.close();
        await this.#runner.end(interruptedTurn(), why);
      }
      await this.#leave();
    });
  }

  /** The session is somebody else's now, or nobody's: end everything, write nothing. */
  lost(error: unknown = new LeaseLost(this.lease.session)): void {
    if (this.#gone) return;
    this.#around.settings.log.warn({ session: this.lease.session, error: String(error) }, "a session was lost");
    this.#abandon(error);
  }

  #abandon(error: unknown): void {
    this.#gone = true;
    this.#alarm.clear();
    this.#writer.abandon(error);
    this.#unattended(this.#runner.abandon().finally(this.#ended.resolve));
  }

  /** Ends the turn that is running, if one is, whatever it is doing, and does something before anything else begins. */
  #finish<T>(last: () => Promise<T>): Promise<T> {
    return this.#step(async () => {
      this.#isFinishing = true;
      try {
        if (!this.#runs) await this.#runner.inherit(true);
        await this.#runner.close();
        await this.#runner.end(interruptedTurn(), "stopped");
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

  /** What fails where nobody waits must not end the server: a session that cannot be written is lost, and says so. */
  #unattended(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const { log } = this.#around.settings;
      if (!this.#gone) log.warn({ session: this.lease.session, error: String(error) }, "a step of a session failed");
    });
  }

  async #takeInbox(): Promise<void> {
    if (this.#gone || this.#isStopping || this.#isFinishing || !this.#runs) return;
    const waiting = await this.#inbox();
    // It waits, and nobody has to come back for it: whoever goes on wakes all that have something waiting.
    if (waiting.length > 0 && (await this.#around.halted())) return;
    if (this.row.archivedAt) return this.#drop(waiting, "the session is archived");
    // Interrupts and answers do not queue behind messages.
    for (const event of waiting) if (event.type === "user.interrupt") await this.#runner.interrupt(event);
    const unbegun = waiting.filter((event) => isCancelled(event, waiting));
    if (unbegun.length > 0) await this.#drop(unbegun, "interrupted before its turn began");
    for (const event of waiting.filter(isAnswer)) {
      if (!(await this.#runner.answer(event))) await this.#drop([event], "nothing waits for this answer any more");
    }
    for (const event of waiting) {
      if (event.type === "user.message" && !unbegun.includes(event)) await this.#runner.offer(event);
    }
  }

  /** What waits. Something may be on its way into the log while the store is asked: that must not be done twice. */
  async #inbox(): Promise<SessionEvent[]> {
    const listed = await this.#around.store.inbox.list(this.row.id);
    return listed.filter((event) => !this.#writer.hasTaken(event));
  }

  /** If it cannot be known now, whoever looks next will see. */
  async #hasMessage(): Promise<boolean> {
    if (this.#isStopping || this.#isFinishing) return false;
    const waiting = await this.#inbox().catch(() => []);
    return waiting.some(({ type }) => type === "user.message");
  }

  async #drop(events: readonly SessionEvent[], reason: string): Promise<void> {
    for (const event of events) {
      await this.#writer.take(event, [{ thread: null, body: { type: "tandem.dropped", event_id: event.id, reason } }]);
    }
  }

  #leaveAfter(ms: number): void {
    this.#alarm.set(ms, () => this.#unattended(this.#serial.run(() => this.#leave())));
  }

  /** Gives process and lease back. The next message takes the session up again. */
  async #leave(): Promise<void> {
    if (this.#gone || (this.running && !this.#runner.isApprovalAnnounced)) return;
    this.#alarm.clear();
    await this.#runner.close(this.running ? "left" : "ended");
    await this.#writer.drained();
    this.#gone = true;
    try {
      await this.#around.store.leases.release(this.lease);
    } finally {
      this.#ended.resolve();
    }
  }
}
