import type { ConversationOutput, ConversationSetup, TurnEnd } from "@tandem/claude-code";
import {
  RequestError,
  type BackgroundTask,
  type EventOf,
  type Interruption,
  type LiveDelta,
  type SessionEvent,
  type SessionEventBody,
} from "@tandem/protocol";
import { LeaseLost, type Lease, type SessionChange, type SessionRow, type Store } from "@tandem/storage";
import { Alarm } from "./alarm.ts";
import { budgetReached } from "./budget.ts";
import { ConversationHolder } from "./conversation-holder.ts";
import { grantOf } from "./conversation-host.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { closing, type Placed } from "./open-turn.ts";
import { readContent } from "./read-content.ts";
import { readLegacy } from "./read-legacy.ts";
import { lateResult } from "./late-result.ts";
import { lostMessages, messageUuid } from "./lost-messages.ts";
import { Serial } from "./serial.ts";
import { SessionWriter } from "./session-writer.ts";
import { accountsOf, Turn, unsavedOf } from "./turn.ts";
import { interruptedTurn, turnFailure } from "./turn-failure.ts";
import { UsageLedger } from "./usage-ledger.ts";
import { type Answer, isAnswer, unmade, WaitingRoom } from "./waiting-room.ts";

export interface ActorSurroundings {
  store: Store;
  settings: EngineSettings;
  show: (deltas: readonly LiveDelta[]) => void;
  /** The actor writes nothing any more and has no process: forget it. */
  onGone: () => void;
}

type GoOn = NonNullable<ConversationSetup["goOn"]>;
type UserMessage = EventOf<"user.message">;

/** A process that waits for a person is given back after this; the answer finds another. */
const WAITING_MS = 30 * 60 * 1_000;

/** How long after its last background task Claude may take to go on because of it. */
const SETTLE_MS = 1_500;

/**
 * The one writer of a session while this process holds its lease: takes what waits in the inbox, drives the conversation,
 * and writes what comes of it. All steps run one after the other; the conversation's output is written as it comes.
 */
export class SessionActor {
  readonly lease: Lease;
  readonly #around: ActorSurroundings;
  readonly #serial = new Serial();
  readonly #writer: SessionWriter;
  readonly #ledger: UsageLedger;
  readonly #alarm = new Alarm();
  readonly #room = new WaitingRoom();
  readonly #holder: ConversationHolder;
  /** Calls that were allowed after the process that asked for them had gone, each once. */
  readonly #grants = new Set<string>();
  readonly #steering = new Map<string, UserMessage>();
  #turn: Turn | undefined;
  #tasks: BackgroundTask[] = [];
  /** Model requests of the primary thread that are under way. */
  #requests = 0;
  #onIdle: (() => void)[] = [];
  /** What the process was started with is not what the session says any more. */
  #isStale = false;
  #gone = false;
  #stopping = false;

  private constructor(around: ActorSurroundings, lease: Lease, writer: SessionWriter, ledger: UsageLedger) {
    this.#around = around;
    this.lease = lease;
    this.#writer = writer;
    this.#ledger = ledger;
    this.#holder = new ConversationHolder({
      ...around,
      lease,
      writer,
      room: this.#room,
      grants: this.#grants,
      onOutput: (output) => this.#onOutput(output),
    });
  }

  /** Takes a session over under a lease: what its last writer left open is closed, or goes on. */
  static async take(around: ActorSurroundings, lease: Lease): Promise<SessionActor> {
    const { store } = around;
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
    await actor.#inherit();
    return actor;
  }

  get row(): SessionRow {
    return this.#writer.row;
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#tasks;
  }

  get running(): boolean {
    return this.#turn !== undefined;
  }

  /** Looks into the inbox. */
  poke(): Promise<void> {
    return this.#serial.run(() => this.#takeInbox());
  }

  /** Changes the session's row and says so in the log. A changed agent or setting gets a new process with the next turn. */
  change(make: (row: SessionRow) => { change: SessionChange; events: SessionEventBody[] }): Promise<SessionRow> {
    return this.#serial.run(async () => {
      const { change, events } = make(this.row);
      await this.#writer.write(events, change);
      this.#isStale ||= change.agent !== undefined || change.metadata !== undefined;
      if (!this.#turn) await this.#rest();
      return this.row;
    });
  }

  /** Resolves when no turn is running, or the time is over. */
  async idle(withinMs: number): Promise<void> {
    if (!this.#turn || this.#room.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle.push(resolve);
    const timer = setTimeout(resolve, withinMs);
    await promise;
    clearTimeout(timer);
  }

  /** Ends the turn that is running, if one is, whatever it is doing. */
  interrupt(): Promise<void> {
    return this.#serial.run(async () => {
      await this.#closeConversation();
      await this.#endTurn(interruptedTurn(), "stopped");
    });
  }

  async stopTask(id: string): Promise<void> {
    if (!this.#tasks.some((task) => task.id === id)) {
      throw new RequestError("not_found", `The session has no background task ${id}.`);
    }
    await this.#holder.current?.stopTask(id);
  }

  /** Lets go of process and lease. A turn that waits for somebody stays open, for whoever takes the session up next. */
  async stop(why: Interruption): Promise<void> {
    this.#stopping = true;
    await this.#serial.run(async () => {
      if (this.#turn && this.#room.size === 0) {
        await this.#closeConversation();
        await this.#endTurn(interruptedTurn(), why);
      }
      await this.#leave();
    });
  }

  /** Somebody else writes the session now: end everything, write nothing. */
  lost(error: unknown = new LeaseLost(this.lease.session)): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#alarm.clear();
    this.#around.settings.log.warn({ session: this.lease.session, error: String(error) }, "a session was lost");
    this.#unattended(this.#closeConversation().finally(this.#around.onGone));
  }

  /** A step that nobody waits for, in its turn. */
  #next(work: () => Promise<void>): void {
    this.#unattended(this.#serial.run(work));
  }

  /** What fails where nobody waits must not end the server: a session that cannot be written is lost, and says so. */
  #unattended(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const { log } = this.#around.settings;
      if (!this.#gone) log.warn({ session: this.lease.session, error: String(error) }, "a step of a session failed");
    });
  }

  // What a former writer left.

  async #inherit(): Promise<void> {
    const { store, settings } = this.#around;
    const legacy = await readLegacy(store.events, this.row);
    if (!legacy) return;
    this.#turn = new Turn(legacy.message);
    for (const { thread, end } of legacy.uncounted) this.#ledger.carry(thread, end);
    for (const call of legacy.waiting) {
      this.#room.enter(call);
      this.#writer.open.set(call.use.id, call);
    }
    this.#room.announcedBefore(legacy.announced);
    const words = "The process died while this call was running. What it did is not known.";
    await this.#writer.place(legacy.running.map((call) => closing(call, "crash", words)));
    if (this.#room.size > 0) return this.#announce();
    const cause = "The server or its Claude Code process died in the middle of the turn.";
    const closed = legacy.running.map(({ use }) => use.id);
    await this.#writer.write([{ type: "tandem.recovered", cause, closed }]);
    if (settings.recovery === "resume") {
      this.#unattended(this.#drive(this.#turn, { type: "go_on", results: [] }));
    } else {
      await this.#endTurn(turnFailure(new RequestError("unavailable", cause)), "crash");
    }
  }

  // The inbox.

  async #takeInbox(): Promise<void> {
    if (this.#gone || this.#stopping) return;
    const waiting = await this.#around.store.inbox.list(this.row.id);
    if (this.row.archivedAt) return this.#drop(waiting, "the session is archived");
    const steering = new Set([...this.#steering.values()].map(({ id }) => id));
    // Interrupts and answers do not queue behind messages.
    for (const event of waiting) if (event.type === "user.interrupt") await this.#interrupt(event);
    for (const event of waiting) if (isAnswer(event)) await this.#answer(event);
    for (const event of waiting) {
      if (event.type !== "user.message" || steering.has(event.id)) continue;
      // It waits until the budget is raised.
      if (budgetReached(this.row.budget, this.#ledger.usd)) continue;
      const steers = event.tandem?.delivery === "steer" && this.#room.size === 0;
      if (!this.#turn || this.#turn.tasksOnly) await this.#begin(event);
      else if (steers && this.#holder.current) await this.#steer(event);
    }
  }

  async #begin(message: UserMessage): Promise<void> {
    this.#alarm.clear();
    const turn = (this.#turn ??= new Turn(message.id));
    turn.tasksOnly = false;
    const running: Placed[] =
      this.row.status === "running" ? [] : [{ thread: null, body: { type: "session.status_running" } }];
    await this.#writer.take(message, running, { status: "running" });
    this.#unattended(this.#drive(turn, message));
  }

  /** Puts a message to the model, in a process that is there or made for it; or lets it go on with what was left. */
  async #drive(turn: Turn, prompt: UserMessage | { type: "go_on"; results: GoOn["results"] }): Promise<void> {
    const { store } = this.#around;
    try {
      if (prompt.type === "go_on") return await this.#holder.goOn(prompt.results);
      const content = await readContent(prompt.content, store.files);
      const fresh = this.#holder.current === undefined;
      const conversation = await this.#holder.open();
      if (turn.interrupted) throw new RequestError("conflict", "The turn was interrupted before it began.");
      const lost = fresh ? await lostMessages(store, this.row.id, conversation, prompt.id) : [];
      conversation.send({ uuid: messageUuid(prompt.id), content: [...lost, ...content] });
    } catch (error) {
      await this.#serial.run(async () => {
        if (this.#turn !== turn) return;
        await this.#closeConversation();
        await this.#endTurn(turn.interrupted ? interruptedTurn() : turnFailure(error), "stopped");
      });
    }
  }

  async #steer(message: UserMessage): Promise<void> {
    const uuid = messageUuid(message.id);
    const content = await readContent(message.content, this.#around.store.files);
    this.#steering.set(uuid, message);
    this.#holder.current?.send({ uuid, content });
  }

  async #interrupt(event: EventOf<"user.interrupt">): Promise<void> {
    const turn = this.#turn;
    const named = event.tandem?.turn_event_id;
    await this.#writer.take(event);
    if (!turn || (named !== undefined && named !== turn.message)) return;
    turn.interrupted = true;
    if (turn.tasksOnly) {
      for (const { id } of this.#tasks) await this.#holder.current?.stopTask(id);
      return this.#endTurn(interruptedTurn(), "interrupt");
    }
    if (this.#holder.current) await this.#holder.current.interrupt();
    else if (this.#room.size > 0) await this.#endTurn(interruptedTurn(), "interrupt");
  }

  async #answer(answer: Answer): Promise<void> {
    const call = this.#room.find(answer);
    if (!call) return this.#drop([answer], "nothing waits for this answer any more");
    const alive = this.#holder.current !== undefined;
    this.#alarm.clear();
    const handOver = this.#room.answer(call, answer);
    const next = this.#room.announcement();
    const following: Placed[] = [
      ...(alive || answer.type === "user.custom_tool_result" ? [] : [closing(call, "crash", unmade(answer))]),
      ...(next ? [{ thread: null, body: next }] : []),
    ];
    await this.#writer.take({ ...answer, session_thread_id: call.thread }, following, this.#room.standing, call.thread);
    handOver();
    if (alive || this.#room.size > 0) return;
    // The process that asked is gone: the answers are told to a new one.
    const late = this.#room.takeEarly();
    for (const { call: asked, answer: given } of late) {
      if (given.type === "user.tool_confirmation" && given.result === "allow") this.#grants.add(grantOf(asked));
    }
    this.#unattended(this.#drive((this.#turn ??= new Turn()), { type: "go_on", results: late.map(lateResult) }));
  }

  async #drop(events: readonly SessionEvent[], reason: string): Promise<void> {
    for (const event of events) {
      await this.#writer.take(event, [{ thread: null, body: { type: "tandem.dropped", event_id: event.id, reason } }]);
    }
  }

  // What comes out of the conversation.

  #onOutput(output: ConversationOutput): void {
    if (this.#gone) return;
    switch (output.type) {
      case "event":
        return this.#onEvent(output);
      case "delta":
        return this.#writer.preview(output);
      case "message_taken": {
        const message = this.#steering.get(output.uuid);
        this.#steering.delete(output.uuid);
        if (message) void this.#writer.take(message);
        return;
      }
      case "background":
        this.#tasks = output.tasks.filter(({ status }) => status === "running");
        void this.#writer.write([{ type: "tandem.background", tasks: output.tasks }]);
        return this.#settleLater();
      case "turn_ended":
        return this.#next(() => this.#onTurnEnded(output.outcome));
      case "closed":
        return this.#next(() => this.#onClosed(output.error));
    }
  }

  #onEvent({ thread, id, event }: Extract<ConversationOutput, { type: "event" }>): void {
    if (event.type === "span.model_request_start" && thread === null) this.#requests += 1;
    if (event.type === "span.model_request_end") {
      this.#ledger.add(thread, event);
      if (thread === null) this.#requests = Math.max(0, this.#requests - 1);
      this.#checkBudget();
    }
    const change: SessionChange = event.type === "tandem.init" ? { claudeSession: event.claude_session_id } : {};
    if (event.type === "session.status_rescheduled") change.status = "rescheduling";
    if (event.type === "session.status_running") change.status = "running";
    void this.#writer.record(thread, id, event, change);
    const call = this.#writer.open.get(id);
    if (call) this.#room.enter(call);
    if (event.type === "agent.tool_result") this.#room.leave(event.tool_use_id);
    if (event.type === "agent.mcp_tool_result") this.#room.leave(event.mcp_tool_use_id);
    this.#unattended(this.#announce());
    if (this.#turn?.tasksOnly) this.#alarm.clear();
  }

  #checkBudget(): void {
    const turn = this.#turn;
    if (!turn || turn.overBudget || !budgetReached(this.row.budget, this.#ledger.usd)) return;
    turn.overBudget = true;
    const conversation = this.#holder.current;
    if (conversation) this.#unattended(conversation.interrupt());
  }

  /** Says who waits, once the model has said all that it has to ask. */
  async #announce(): Promise<void> {
    if (this.#requests > 0 || !this.#turn) return;
    const announcement = this.#room.announcement();
    if (!announcement) return;
    if (this.#room.size > 0) this.#alarm.set(WAITING_MS, () => this.#next(() => this.#leave()));
    await this.#writer.write([announcement], this.#room.standing);
  }

  async #onTurnEnded(end: TurnEnd): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    if (end.stop === "error" || turn.interrupted || this.#tasks.length === 0) {
      return this.#endTurn(end, turn.interrupted ? "interrupt" : "stopped");
    }
    turn.tasksOnly = true;
    await this.#writer.write(accountsOf(end, this.#ledger, this.row));
    await this.#takeInbox();
  }

  async #onClosed(error: unknown): Promise<void> {
    this.#holder.forget();
    this.#tasks = [];
    if (!this.#turn) return;
    await this.#endTurn(turnFailure(error ?? new RequestError("unavailable", "Claude Code ended.")), "crash");
  }

  // The end of a turn.

  async #endTurn(end: TurnEnd, why: Interruption): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    const unsaved = await unsavedOf(this.#holder.current);
    const words = "The turn ended before this call had a result. What it did is not known.";
    await this.#writer.place([...this.#writer.open.values()].map((call) => closing(call, why, words)));
    this.#room.clear();
    this.#requests = 0;
    this.#ledger.activeMs += Date.now() - turn.startedAt;
    const reason = turn.stopReason(end);
    const last: SessionEventBody[] = [
      ...accountsOf(end, this.#ledger, this.row),
      ...unsaved,
      ...(end.error ? [{ type: "session.error" as const, error: end.error }] : []),
    ];
    const goesOn = reason.type === "end_turn" && !turn.interrupted && (await this.#hasMessage());
    if (!goesOn) last.push({ type: "session.status_idle", stop_reason: reason, stop_details: end.stopDetails });
    this.#turn = undefined;
    this.#grants.clear();
    await this.#writer.write(last, {
      usage: this.#ledger.total,
      activeMs: this.#ledger.activeMs,
      ...(!goesOn && { status: "idle", waitingFor: [] }),
    });
    for (const resolve of this.#onIdle.splice(0)) resolve();
    if (this.#stopping) return;
    await this.#rest();
    await this.#takeInbox();
  }

  async #hasMessage(): Promise<boolean> {
    if (this.#stopping) return false;
    return (await this.#around.store.inbox.list(this.row.id)).some(({ type }) => type === "user.message");
  }

  // Timers, and the end.

  /** Where only background tasks kept the turn open, their end ends it, unless Claude goes on because of it. */
  #settleLater(): void {
    const turn = this.#turn;
    if (!turn?.tasksOnly || this.#tasks.length > 0) return;
    const end = async (): Promise<void> => {
      if (this.#turn !== turn || !turn.tasksOnly) return;
      await this.#endTurn({ stop: "end_turn", stopDetails: null, reported: {} }, "stopped");
    };
    this.#alarm.set(SETTLE_MS, () => this.#next(end), true);
  }

  /** Between turns: a process that is out of date goes at once, any other with the session when nobody needs it. */
  async #rest(): Promise<void> {
    if (this.#isStale) await this.#closeConversation();
    this.#alarm.set(this.#around.settings.idle, () => this.#next(() => this.#leave()));
  }

  async #closeConversation(turn: "ended" | "left" = "ended"): Promise<void> {
    this.#tasks = [];
    this.#isStale = false;
    this.#steering.clear();
    await this.#holder.close(turn);
  }

  /** Gives process and lease back. The next message takes the session up again. */
  async #leave(): Promise<void> {
    if (this.#gone || (this.#turn && this.#room.size === 0)) return;
    this.#alarm.clear();
    await this.#closeConversation(this.#turn ? "left" : "ended");
    await this.#writer.drained();
    this.#gone = true;
    await this.#around.store.leases.release(this.lease);
    this.#around.onGone();
  }
}
