import type { LateResult, TurnEnd } from "@tandem/claude-code";
import {
  RequestError,
  type BackgroundTask,
  type EventId,
  type EventOf,
  type Interruption,
  type SessionEventBody,
  type StopReason,
} from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { BackgroundTasks } from "./background-tasks.ts";
import { closeInterruptedTurn } from "./close-interrupted-turn.ts";
import { ConversationHolder } from "../process/conversation-holder.ts";
import { ApprovalRequests } from "../approvals/approval-requests.ts";
import type { Placed } from "../log/open-turn.ts";
import { QuotaWait } from "./quota-wait.ts";
import { readInterruptedTurn } from "./read-interrupted-turn.ts";
import { refuseMessage } from "./refuse-message.ts";
import { Steering } from "./steering.ts";
import { TurnHooks } from "../hooks/turn-hook.ts";
import { PromptSender, type Prompt } from "./prompt-sender.ts";
import { TurnOutput } from "./turn-output.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { accountsOf, cutOff, cutShortOf, Turn, unsavedOf } from "./turn.ts";
import { interruptedTurn, turnFailure } from "./turn-failure.ts";
import type { Answer, PendingApprovals } from "../approvals/pending-approvals.ts";

type UserMessage = EventOf<"user.message">;

const atRest = (reason: StopReason): SessionChange => ({
  status: "idle",
  waitingFor: [],
  parked: null,
  cutShort: cutShortOf(reason),
});

/**
 * Carries a session's conversation through its turns: gives messages and answers to Claude, writes down what comes of it,
 * and says where the turn stands. A turn has exactly one end, and what Claude says after it is part of the next.
 */
export class TurnRunner {
  readonly #parts: TurnDependencies;
  readonly #inquiries: ApprovalRequests;
  readonly #holder: ConversationHolder;
  readonly #output: TurnOutput;
  readonly #steering: Steering;
  readonly #companions: TurnHooks;
  readonly #parking: QuotaWait;
  readonly #tasks: BackgroundTasks;
  readonly #teller: PromptSender;
  #turn: Turn | undefined;
  /** What the process was started with is not what the session says any more. */
  #isStale = false;

  constructor(parts: TurnDependencies) {
    this.#parts = parts;
    const { lease, ledger } = parts;
    const control = { row: () => this.#row, lease, ledger, stop: this.#stop.bind(this) };
    this.#parking = new QuotaWait(parts);
    this.#tasks = new BackgroundTasks(parts.writer);
    this.#companions = new TurnHooks(parts.accompany(control));
    this.#inquiries = new ApprovalRequests(parts);
    this.#holder = new ConversationHolder({
      ...parts,
      room: this.#room,
      grants: this.#inquiries.grants,
      onOutput: (output) => this.#output.take(output),
    });
    this.#steering = new Steering(parts.store.files);
    const beside = { holder: this.#holder, companions: this.#companions, parking: this.#parking };
    this.#teller = new PromptSender(parts, { ...beside, isCurrent: (turn) => this.#turn === turn });
    this.#output = new TurnOutput(
      parts,
      { ...beside, inquiries: this.#inquiries, tasks: this.#tasks, steering: this.#steering },
      {
        onTaken: (message) => void parts.writer.take(message, this.#works(message.id), { status: "running" }),
        onAsked: () => this.#onAsked(),
        onChange: () => this.#onChange(),
        onTurnEnded: (end) => this.#onTurnEnded(end),
        onClosed: (error) => this.#onClosed(error),
      },
    );
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#tasks.running;
  }

  get running(): boolean {
    return this.#turn !== undefined;
  }

  /** Whether somebody has to answer before the turn can go on, or a quota must be reset. */
  get waits(): boolean {
    return this.#room.size > 0 || this.#parking.waits;
  }

  /** Whether it waits, and the log says for what: whoever takes the session up next can go on. */
  get isApprovalAnnounced(): boolean {
    return this.#room.isAnnounced || this.#parking.waits;
  }

  /** Whether what it waits for can be answered without its process. A subagent's call goes with it. */
  get canReleaseProcess(): boolean {
    return this.#inquiries.outlivesProcess;
  }

  get #room(): PendingApprovals {
    return this.#inquiries.room;
  }

  get #row(): SessionRow {
    return this.#parts.writer.row;
  }

  /**
   * Takes up the turn that a former writer left, if it left one: closes what was open in it, and goes on or ends it. With
   * `closes` it only does the former; what becomes of the turn is the caller's then.
   */
  async inherit(closes?: true): Promise<void> {
    const { store, settings, writer } = this.#parts;
    const legacy = await readInterruptedTurn(store.events, this.#row);
    if (!legacy) return;
    const turn = (this.#turn = new Turn(legacy.messages));
    await closeInterruptedTurn(legacy, this.#parts, this.#inquiries);
    if (closes) return;
    if (this.waits) return this.#announce();
    if (this.#parking.inherit(this.#row, legacy.windows)) return this.#waitForReset(turn);
    if (legacy.isHandedOver) {
      await writer.write([{ type: "session.status_running" }], { status: "running" });
      return this.#goOn(turn, this.#inquiries.takeLate());
    }
    const cause = "The server or its Claude Code process died in the middle of the turn.";
    const closed = legacy.running.map(({ use }) => use.id);
    await writer.write([{ type: "tandem.recovered", cause, closed }]);
    if (settings.recovery === "resume" || legacy.isUntold) await this.#goOn(turn, this.#inquiries.takeLate());
    else await this.end(turnFailure(new RequestError("unavailable", cause)), "crash");
  }

  /** Whether nothing is lost if the turn is left. */
  get isBetweenSteps(): boolean {
    return this.#output.isBetweenSteps;
  }

  /** Resolves when the transcript is as far as the log is. */
  async caughtUp(): Promise<void> {
    await this.#holder.current?.caughtUp();
  }

  /** Leaves the turn where it is, for another worker to go on with. */
  async handOver(): Promise<void> {
    const { writer, ledger, settings } = this.#parts;
    if (!this.#turn) return;
    await Promise.all([this.#companions.left(), this.close("lost")]);
    ledger.activeMs += this.#turn.ranMs;
    this.#turn = undefined;
    await writer.write([{ type: "tandem.handover", from: settings.holder }, { type: "session.status_rescheduled" }], {
      ...{ status: "rescheduling", activeMs: ledger.activeMs },
    });
  }

  /** The session has other settings now: they count from the next turn on. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    if (!this.#turn) await this.close();
  }

  // What clients send.

  /** Begins a turn with a message or steers the one that is running; if neither can be, the message stays where it is. */
  async offer(message: UserMessage): Promise<void> {
    if (this.#steering.has(message.id)) return;
    const isFree = !this.#turn || this.#turn.rest !== undefined;
    if (isFree && !this.#steering.first) {
      const refusal = await this.#companions.admit();
      if (!refusal) return this.#begin(message);
      if (!this.#turn) await refuseMessage(this.#parts.store.events, this.#parts.writer, message, refusal);
      return;
    }
    const { delivery, commands } = message.tandem ?? {};
    if (delivery !== "steer" || commands || !this.#turn?.told || this.waits || this.#companions.guardMessages) return;
    await this.#steering.give(message, this.#holder);
  }

  /** Whether Claude Code has a message that its model has not seen yet. */
  isSteeredBy(message: EventId): boolean {
    return this.#steering.has(message);
  }

  async interrupt(event: EventOf<"user.interrupt">): Promise<void> {
    await this.#parts.writer.take(event);
    const turn = this.#turn;
    const named = event.tandem?.turn_event_id;
    if (!turn || (named !== undefined && !turn.messages.has(named as EventId))) return;
    turn.interrupted = true;
    if (turn.rest) return this.#cut("interrupt");
    if (this.#holder.current) await this.#holder.current.interrupt();
    else if (this.waits) await this.end(interruptedTurn(), "interrupt");
  }

  /** False if nothing waits for such an answer. */
  async answer(answer: Answer): Promise<boolean> {
    const late = this.#holder.current === undefined;
    this.#parts.onBegin();
    const taken = await this.#inquiries.take(answer, late);
    if (taken?.isChanged) this.#isStale = true;
    if (this.waits) this.#parts.onWaiting();
    else if (taken && late) await this.#goOn((this.#turn ??= new Turn()), this.#inquiries.takeLate());
    return taken !== undefined;
  }

  async stopTask(id: string): Promise<void> {
    this.#tasks.mustHave(id);
    await this.#holder.current?.stopTask(id);
  }

  // What Claude is given.

  async #begin(message: UserMessage): Promise<void> {
    const running = this.#works(message.id);
    const turn = this.#turn!;
    turn.told = false;
    await this.#parts.writer.take(message, running, { status: "running" });
    this.#drive(turn, { message });
  }

  /** Goes on with a turn whose process is gone: where it was left, or with its message if nothing was kept of that. */
  async #goOn(turn: Turn, results: readonly LateResult[]): Promise<void> {
    const message = await this.#teller.untold(turn);
    this.#drive(turn, { ...(message && { message }), results });
  }

  /** Puts a message to the model, in a process that is there or made for it; or lets it go on with what was left. */
  #drive(turn: Turn, telling: Prompt): void {
    this.#teller.tell(turn, telling).then(
      // What came meanwhile may be meant to steer the turn.
      () => this.#parts.next(this.#parts.look),
      (error: unknown) =>
        this.#parts.next(async () => {
          if (this.#turn !== turn) return;
          const end = turn.interrupted || turn.stopped ? interruptedTurn() : turnFailure(error);
          if (this.#parking.takes(end, true)) return this.#park(turn, end);
          await this.close();
          await this.end(end, "stopped");
        }),
    );
  }

  // Where it stands.

  /** Claude works, in the turn that is there or in a new one. Returns what is to be said of that. */
  #works(message?: EventId): Placed[] {
    this.#parts.onBegin();
    this.#tasks.unsettle();
    const turn = (this.#turn ??= new Turn());
    turn.told = true;
    turn.rest = undefined;
    if (message) turn.messages.add(message);
    if (this.#row.status === "running") return [];
    this.#room.announcedBefore([]);
    return [{ thread: null, body: { type: "session.status_running" } }];
  }

  /** Claude may go on by itself, because of a background task that has ended. */
  #onAsked(): void {
    if (this.#turn && !this.#turn.rest) return;
    const running = this.#works();
    if (running.length > 0) void this.#parts.writer.place(running, { status: "running" });
  }

  #stop(reason: StopReason, events: readonly SessionEventBody[] = []): void {
    const turn = this.#turn;
    if (!turn || turn.stopped) return;
    turn.stopped = { reason, events };
    // Its end is heard of as that of any turn; but not where only background tasks are left of it.
    if (turn.rest) this.#parts.next(() => (this.#turn === turn ? this.#cut("stopped") : Promise.resolve()));
    else void this.#holder.current?.interrupt();
  }

  async #cut(why: Interruption): Promise<void> {
    await this.close();
    await this.end(interruptedTurn(), why);
  }

  #onChange(): Promise<void> {
    this.#settleLater();
    return this.#announce();
  }

  /** Says who waits, once the model has said all that it has to ask. Need not be awaited. */
  #announce(): Promise<void> {
    const announcement = !this.#output.isAsking && this.#turn ? this.#room.announcement() : undefined;
    if (!announcement) return Promise.resolve();
    if (this.waits) this.#parts.onWaiting();
    return this.#parts.writer.write([announcement], this.#room.standing);
  }

  async #onTurnEnded(end: TurnEnd): Promise<void> {
    const { writer, ledger, look } = this.#parts;
    const turn = this.#turn;
    if (!turn) return;
    const isStopped = turn.interrupted || turn.stopped !== undefined;
    await this.#parking.learn(end);
    if (!isStopped && this.#parking.takes(end)) return this.#park(turn, end);
    // Whoever stops a turn stops what it has started.
    if (isStopped && this.#tasks.any) await this.close();
    if (isStopped || !this.#tasks.any) return this.end(end, turn.interrupted ? "interrupt" : "stopped");
    turn.rest = end;
    await writer.write(accountsOf(end, ledger, this.#row), { usage: ledger.total, microUsd: ledger.microUsd });
    await look();
  }

  async #park(turn: Turn, end: TurnEnd): Promise<void> {
    await this.close("left");
    await this.#parking.enter(end);
    this.#waitForReset(turn);
  }

  /** The turn goes on by itself when a quota has been reset. */
  #waitForReset(turn: Turn): void {
    this.#parking.wait(turn, () => this.#drive(turn, { isAfterReset: true }));
  }

  /** A turn that Claude was at has ended with its process, and one that it has not been told of gets another. */
  async #onClosed(error: unknown): Promise<void> {
    if (!this.#turn?.rest) return;
    await this.end(turnFailure(error ?? new RequestError("unavailable", "Claude Code ended.")), "crash");
  }

  /** Where only background tasks kept the turn open, their end ends it, unless Claude goes on because of it. */
  #settleLater(): void {
    const turn = this.#turn;
    if (!turn?.rest) return;
    const settle = async (): Promise<void> => {
      if (this.#turn !== turn || !turn.rest) return;
      const { stop, stopDetails } = turn.rest;
      await this.end({ stop, stopDetails, reported: {} }, "stopped");
    };
    this.#tasks.settle(() => this.#parts.next(settle));
  }

  // The end.

  /** Ends the turn, if there is one: what is open is closed, and nothing of it comes after its last event. */
  async end(end: TurnEnd, why: Interruption): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    await this.#output.holdDuring(() => this.#end(turn, end, why));
  }

  async #end(turn: Turn, end: TurnEnd, why: Interruption): Promise<void> {
    const { writer, ledger, hasMessage, look, onEnd } = this.#parts;
    const unsaved = await unsavedOf(this.#holder.current);
    await writer.place([...cutOff(writer.open.values(), why), ...this.#inquiries.unanswered()]);
    this.#tasks.unsettle();
    this.#inquiries.clear();
    this.#output.forgetRequests();
    // What a process had and its model had not is offered to the next one.
    if (!this.#holder.current) this.#steering.clear();
    this.#parking.leave();
    ledger.activeMs += turn.ranMs;
    ledger.turns += 1;
    const reason = turn.stopReason(end);
    const idle: SessionEventBody = { type: "session.status_idle", stop_reason: reason, stop_details: end.stopDetails };
    const goesOn = reason.type === "end_turn" && !turn.interrupted && (await hasMessage());
    const accounts = [
      ...accountsOf(end, ledger, this.#row),
      ...unsaved,
      ...(turn.stopped?.events ?? []),
      ...(await this.#companions.after(turn.start, end)),
    ];
    const used = { usage: ledger.total, microUsd: ledger.microUsd, activeMs: ledger.activeMs };
    await writer.write(goesOn ? accounts : [...accounts, idle], { ...used, ...(!goesOn && atRest(reason)) });
    this.#turn = undefined;
    onEnd();
    const steering = this.#steering.first;
    if (goesOn && steering) this.#works(steering.id);
    else if (this.#isStale) await this.close();
    try {
      await look();
    } finally {
      // Nothing came of the message after all.
      if (goesOn && !this.#turn) await writer.write([idle], atRest(reason));
    }
  }

  async close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    if (turn === "left") await this.#companions.left();
    this.#tasks.end();
    this.#isStale = false;
    this.#steering.clear();
    await this.#holder.close(turn);
  }

  /** The session is somebody else's: nothing more is done or said. Resolves when the process is gone. */
  async abandon(): Promise<void> {
    this.#turn = undefined;
    this.#tasks.unsettle();
    this.#parking.leave();
    this.#output.shut();
    await Promise.all([this.#companions.left(), this.close("lost")]);
  }
}
