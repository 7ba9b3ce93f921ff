import { randomUUID } from "node:crypto";
import type { Conversation, ConversationOutput, ModelContent, TurnEnd } from "@tandem/claude-code";
import {
  newId,
  RequestError,
  type BackgroundTask,
  type EventId,
  type EventOf,
  type Interruption,
  type LiveDelta,
  type SessionEvent,
  type SessionEventBody,
  type ThreadId,
} from "@tandem/protocol";
import {
  LeaseLost,
  type Lease,
  type SessionChange,
  type SessionRow,
  type Store,
  type ThreadRow,
  type WaitingFor,
} from "@tandem/storage";
import { budgetReached } from "./budget.ts";
import { createHost, grantKey } from "./conversation-host.ts";
import { conversationSetup } from "./conversation-setup.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { interruptedResult, openCalls, type OpenCall, readOpenTurn, track, waitingCalls } from "./open-turn.ts";
import { Outbox, type Entry } from "./outbox.ts";
import { readContent } from "./read-content.ts";
import { GO_ON, lateAnswers } from "./resume-message.ts";
import { Serial } from "./serial.ts";
import { ThreadBook } from "./thread-book.ts";
import { transcriptStore } from "./transcript-store.ts";
import { turnFailure } from "./turn-failure.ts";
import { UsageLedger } from "./usage-ledger.ts";
import { type Answer, WaitingRoom } from "./waiting-room.ts";

export interface ActorSurroundings {
  store: Store;
  settings: EngineSettings;
  show: (deltas: readonly LiveDelta[]) => void;
  /** The actor writes nothing any more and has no process: forget it. */
  onGone: () => void;
}

/** From the message that begins it to the next idle. */
interface Turn {
  /** The message that began it; none where it goes on after a crash or with late answers. */
  message: EventId | undefined;
  startedAt: number;
  interrupted: boolean;
  overBudget: boolean;
  /** The model has answered, and only background tasks are left. */
  tasksOnly: boolean;
}

type UserMessage = EventOf<"user.message">;

const SETTLE_MS = 1_500;

/**
 * The one writer of a session while this process holds its lease: takes what waits in the inbox, drives the conversation,
 * and writes what comes of it. All steps run one after the other; the conversation's output goes straight to the outbox.
 */
export class SessionActor {
  readonly lease: Lease;
  readonly #around: ActorSurroundings;
  readonly #serial = new Serial();
  readonly #outbox: Outbox;
  readonly #ledger: UsageLedger;
  readonly #threads: ThreadBook;
  readonly #room = new WaitingRoom();
  readonly #open = new Map<EventId, OpenCall>();
  /** Calls that were allowed after the process that asked for them had gone, each once. */
  readonly #grants = new Set<string>();
  readonly #steering = new Map<string, UserMessage>();
  #row: SessionRow;
  #conversation: Conversation | undefined;
  #turn: Turn | undefined;
  #tasks: BackgroundTask[] = [];
  #requests = 0;
  #timer: NodeJS.Timeout | undefined;
  #gone = false;
  #onIdle: (() => void)[] = [];
  #stopping = false;

  private constructor(
    around: ActorSurroundings,
    lease: Lease,
    row: SessionRow,
    ledger: UsageLedger,
    threads: ThreadRow[],
  ) {
    this.#around = around;
    this.lease = lease;
    this.#row = row;
    this.#ledger = ledger;
    this.#threads = new ThreadBook(row, threads);
    this.#outbox = new Outbox(around.store.events, lease, around.show, (error) => this.#lose(error));
  }

  /** Takes a session over under a lease: what its last writer left open is closed, or goes on. */
  static async take(around: ActorSurroundings, lease: Lease): Promise<SessionActor> {
    const { store } = around;
    const row = await store.sessions.get(lease.session);
    if (!row) throw new RequestError("not_found", `There is no session ${lease.session}.`);
    const [last] = await store.events.read(row.id, { order: "desc", limit: 1, types: ["session.usage"] });
    const note = last?.event.type === "session.usage" ? last.event.tandem : undefined;
    const ledger = new UsageLedger(row.primaryThread, { note, activeMs: row.activeMs });
    const actor = new SessionActor(around, lease, row, ledger, await store.sessions.threads(row.id));
    await actor.#inherit();
    return actor;
  }

  get row(): SessionRow {
    return this.#row;
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#tasks;
  }

  get waiting(): OpenCall[] {
    return this.#room.calls;
  }

  /** Looks into the inbox. */
  poke(): Promise<void> {
    return this.#serial.run(() => this.#takeInbox());
  }

  /** Changes the session's row and says so in the log. */
  change(make: (row: SessionRow) => { change: SessionChange; events: SessionEventBody[] }): Promise<SessionRow> {
    return this.#serial.run(async () => {
      const { change, events } = make(this.#row);
      await this.#write(events, change);
      if (change.agent) await this.#closeConversation();
      return this.#row;
    });
  }

  get running(): boolean {
    return this.#turn !== undefined;
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
      await this.#endTurn({ stop: "interrupted", stopDetails: null, reported: {} }, "stopped");
    });
  }

  async stopTask(id: string): Promise<void> {
    if (!this.#tasks.some((task) => task.id === id)) {
      throw new RequestError("not_found", `The session has no background task ${id}.`);
    }
    await this.#conversation?.stopTask(id);
  }

  /** Ends the turn that is running, if one is, and lets go of process and lease. */
  async stop(why: Interruption): Promise<void> {
    this.#stopping = true;
    await this.#serial.run(async () => {
      if (this.#turn && this.#room.size === 0) {
        await this.#closeConversation();
        await this.#endTurn({ stop: "interrupted", stopDetails: null, reported: {} }, why);
      }
      await this.#leave();
    });
  }

  // ---- what a former writer left ----

  async #inherit(): Promise<void> {
    const { store, settings } = this.#around;
    const events = await readOpenTurn(store.events, this.#row.id);
    const died = this.#row.status === "running" || this.#row.status === "rescheduling";
    const waiting = died ? [] : waitingCalls(events);
    const stays = new Set(waiting.map(({ use }) => use.id));
    const closed = [...openCalls(events).values()].filter(({ use }) => !stays.has(use.id));
    for (const call of waiting) this.#room.inherit(call);
    for (const call of waiting) this.#open.set(call.use.id, call);
    if (!died && waiting.length === 0) return;
    this.#turn = this.#newTurn(undefined);
    const results = closed.map((call) => ({
      thread: call.thread,
      body: interruptedResult(call, "crash", "The process died while this call was running. What it did is not known."),
    }));
    await this.#writeTo(results);
    if (!died) return this.#announce();
    const cause = "The server or its Claude Code process died in the middle of the turn.";
    await this.#write([{ type: "tandem.recovered", cause, closed: closed.map(({ use }) => use.id) }]);
    if (settings.recovery === "resume") void this.#drive(this.#turn, async () => GO_ON);
    else await this.#endTurn(turnFailure(new RequestError("unavailable", cause)), "crash");
  }

  // ---- the inbox ----

  async #takeInbox(): Promise<void> {
    if (this.#gone || this.#stopping) return;
    const waiting = await this.#around.store.inbox.list(this.#row.id);
    if (this.#row.archivedAt) return this.#drop(waiting, "the session is archived");
    const steering = new Set([...this.#steering.values()].map(({ id }) => id));
    // Interrupts jump the queue.
    for (const event of waiting) if (event.type === "user.interrupt") await this.#interrupt(event);
    for (const event of waiting) {
      if (event.type === "user.tool_confirmation" || event.type === "user.custom_tool_result")
        await this.#answer(event);
    }
    for (const event of waiting) {
      if (event.type !== "user.message" || steering.has(event.id)) continue;
      if (!this.#turn || this.#turn.tasksOnly) await this.#begin(event);
      else if (event.tandem?.delivery === "steer" && this.#conversation && this.#room.size === 0)
        await this.#steer(event);
    }
  }

  async #begin(message: UserMessage): Promise<void> {
    this.#rest();
    const turn = (this.#turn ??= this.#newTurn(message.id));
    turn.tasksOnly = false;
    const running: SessionEventBody[] = this.#row.status === "running" ? [] : [{ type: "session.status_running" }];
    await this.#take(message, running, { status: "running" });
    void this.#drive(turn, () => readContent(message.content, this.#around.store.files));
  }

  /** Puts content to the model, in a process that is there or made for it. */
  async #drive(turn: Turn, read: () => Promise<ModelContent[]>): Promise<void> {
    try {
      const content = await read();
      const conversation = await this.#converse();
      if (turn.interrupted) throw new RequestError("conflict", "The turn was interrupted before it began.");
      conversation.send({ uuid: randomUUID(), content });
    } catch (error) {
      await this.#serial.run(async () => {
        if (this.#turn !== turn) return;
        const end: TurnEnd = turn.interrupted
          ? { stop: "interrupted", stopDetails: null, reported: {} }
          : turnFailure(error);
        await this.#endTurn(end, "stopped");
      });
    }
  }

  async #steer(message: UserMessage): Promise<void> {
    const uuid = randomUUID();
    const content = await readContent(message.content, this.#around.store.files);
    this.#steering.set(uuid, message);
    this.#conversation?.send({ uuid, content });
  }

  async #interrupt(event: EventOf<"user.interrupt">): Promise<void> {
    const turn = this.#turn;
    const named = event.tandem?.turn_event_id;
    await this.#take(event, []);
    if (!turn || (named !== undefined && turn.message !== undefined && named !== turn.message)) return;
    turn.interrupted = true;
    if (turn.tasksOnly) {
      for (const { id } of this.#tasks) await this.#conversation?.stopTask(id);
      return this.#endTurn({ stop: "interrupted", stopDetails: null, reported: {} }, "interrupt");
    }
    if (this.#conversation) await this.#conversation.interrupt();
    else if (this.#room.size > 0)
      await this.#endTurn({ stop: "interrupted", stopDetails: null, reported: {} }, "interrupt");
  }

  async #answer(answer: Answer): Promise<void> {
    const call = this.#room.has(answer) ? this.#room.call(answer) : undefined;
    if (!call) return this.#drop([answer], "nothing waits for this answer any more");
    const handOver = this.#room.answer(answer);
    const next = this.#room.announcement();
    const closing = this.#conversation ? [] : this.#closing(call, answer);
    await this.#take(
      { ...answer, session_thread_id: call.thread },
      [...closing, ...(next ? [next] : [])],
      this.#standing(),
      call.thread,
    );
    handOver();
    if (this.#conversation || this.#room.size > 0) return;
    // The process that asked is gone: the answers are told to a new one.
    const turn = (this.#turn ??= this.#newTurn(undefined));
    const kept = this.#room.takeKept();
    for (const { call: asked, answer: given } of kept) {
      if (given.type === "user.tool_confirmation" && given.result === "allow") this.#grants.add(grantKey(asked.use));
    }
    void this.#drive(turn, async () => lateAnswers(kept));
  }

  /** A call that was only to be confirmed has no result but this: it did not run. */
  #closing(call: OpenCall, answer: Answer): SessionEventBody[] {
    if (answer.type === "user.custom_tool_result") return [];
    const words = answer.result === "allow" ? "allowed later; it is made again" : "denied";
    return [interruptedResult(call, "crash", `The process ended before this call ran. It was ${words}.`)];
  }

  async #drop(events: readonly SessionEvent[], reason: string): Promise<void> {
    for (const event of events) {
      await this.#take(event, [{ type: "tandem.dropped", event_id: event.id, reason }]);
    }
  }

  // ---- the conversation ----

  async #converse(): Promise<Conversation> {
    if (!this.#conversation) {
      const { store, settings } = this.#around;
      const known = this.#row.claudeSession;
      const resume = known !== undefined && (await store.transcripts.subpaths(this.#row.id)).length > 0;
      const id = resume ? known : randomUUID();
      const setup = await conversationSetup(this.#row, { id, resume }, settings);
      if (this.#gone) throw new LeaseLost(this.#row.id);
      const host = createHost({
        tools: this.#row.agent.tools,
        room: this.#room,
        grants: this.#grants,
        announce: () => void this.#announce(),
        onOutput: (output) => this.#onOutput(conversation, output),
        calls: this.#open,
      });
      const conversation: Conversation = settings.openConversation(
        setup,
        host,
        transcriptStore(store.transcripts, this.lease),
      );
      this.#conversation = conversation;
    }
    const conversation = this.#conversation;
    await conversation.ready;
    return conversation;
  }

  #onOutput(from: Conversation, output: ConversationOutput): void {
    if (this.#gone || from !== this.#conversation) return;
    switch (output.type) {
      case "event":
        return this.#onEvent(output.thread, output.id, output.event);
      case "delta":
        return this.#outbox.preview({ thread: output.thread, delta: output.delta });
      case "message_taken": {
        const message = this.#steering.get(output.uuid);
        this.#steering.delete(output.uuid);
        if (message) void this.#take(message, []);
        return;
      }
      case "background":
        this.#tasks = output.tasks;
        void this.#write([{ type: "tandem.background", tasks: output.tasks }]);
        return this.#settleLater();
      case "turn_ended":
        return void this.#serial.run(() => this.#onTurnEnded(output.outcome));
      case "closed":
        return void this.#serial.run(() => this.#onClosed(from, output.error));
    }
  }

  #onEvent(thread: ThreadId | null, id: EventId, body: SessionEventBody): void {
    const event: SessionEvent = { ...body, id, processed_at: new Date().toISOString() };
    track(this.#open, thread, event);
    this.#threads.note(thread, event);
    if (thread === null && event.type === "span.model_request_start") this.#requests += 1;
    if (event.type === "span.model_request_end") {
      this.#ledger.add(thread, event);
      if (thread === null) this.#requests = Math.max(0, this.#requests - 1);
      this.#checkBudget();
    }
    const change: SessionChange = event.type === "tandem.init" ? { claudeSession: event.claude_session_id } : {};
    if (event.type === "session.status_rescheduled") change.status = "rescheduling";
    if (event.type === "session.status_running") change.status = "running";
    this.#row = { ...this.#row, ...change };
    void this.#outbox.write([{ thread, event }], { session: change, threads: this.#threads.changed() });
    if (this.#requests === 0) void this.#announce();
    clearTimeout(this.#turn?.tasksOnly ? this.#timer : undefined);
  }

  #checkBudget(): void {
    const turn = this.#turn;
    if (!turn || turn.overBudget || !budgetReached(this.#row.budget, this.#ledger.usd)) return;
    turn.overBudget = true;
    void this.#conversation?.interrupt();
  }

  /** Says who waits, once the model has said all that it has to ask. */
  async #announce(): Promise<void> {
    if (this.#requests > 0 || !this.#turn) return;
    const announcement = this.#room.announcement();
    if (!announcement) return;
    await this.#write([announcement], this.#standing());
  }

  async #onTurnEnded(end: TurnEnd): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    const last = end.stop === "error" || turn.interrupted || this.#tasks.length === 0;
    if (last) return this.#endTurn(end, turn.interrupted ? "interrupt" : "stopped");
    turn.tasksOnly = true;
    await this.#write(this.#accounts(end));
    await this.#takeInbox();
  }

  async #onClosed(from: Conversation, error: unknown): Promise<void> {
    if (this.#conversation !== from) return;
    this.#conversation = undefined;
    this.#tasks = [];
    if (this.#turn)
      await this.#endTurn(turnFailure(error ?? new RequestError("unavailable", "Claude Code ended.")), "crash");
  }

  // ---- the end of a turn ----

  async #endTurn(end: TurnEnd, why: Interruption): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    const problem = await this.#flush();
    const left = [...this.#open.values()].map((call) => ({
      thread: call.thread,
      body: interruptedResult(call, why, "The turn ended before this call had a result. What it did is not known."),
    }));
    this.#open.clear();
    this.#room.clear();
    this.#requests = 0;
    this.#ledger.activeMs += Date.now() - turn.startedAt;
    const stop = turn.overBudget ? "budget_reached" : STOP_REASONS[end.stop];
    const closing: SessionEventBody[] = [
      ...this.#accounts(end),
      ...(problem ? [problem] : []),
      ...(end.error ? [{ type: "session.error" as const, error: end.error }] : []),
    ];
    await this.#writeTo(left);
    const goesOn = stop === "end_turn" && !turn.interrupted && (await this.#nextMessage());
    this.#turn = undefined;
    for (const resolve of this.#onIdle.splice(0)) resolve();
    if (goesOn) {
      await this.#write(closing, this.#totals());
    } else {
      closing.push({ type: "session.status_idle", stop_reason: { type: stop }, stop_details: end.stopDetails });
      await this.#write(closing, { ...this.#totals(), status: "idle", waitingFor: [] });
    }
    if (this.#stopping) return;
    this.#rest();
    this.#timer = setTimeout(() => void this.#serial.run(() => this.#leave()), this.#around.settings.idle);
    this.#timer.unref();
    await this.#takeInbox();
  }

  async #nextMessage(): Promise<boolean> {
    if (this.#stopping) return false;
    return (await this.#around.store.inbox.list(this.#row.id)).some(({ type }) => type === "user.message");
  }

  /** What a turn has used and made. */
  #accounts(end: TurnEnd): SessionEventBody[] {
    const mismatch = this.#ledger.reconcile(end.reported);
    return [
      ...(mismatch ? [{ type: "tandem.usage_mismatch" as const, ...mismatch }] : []),
      ...(end.output === undefined ? [] : [{ type: "tandem.output" as const, value: end.output }]),
      { type: "session.usage", usage: this.#ledger.total, budget: this.#row.budget, tandem: this.#ledger.note },
    ];
  }

  #totals(): SessionChange {
    return { usage: this.#ledger.total, activeMs: this.#ledger.activeMs };
  }

  /** Where a turn stands that may wait for somebody. */
  #standing(): SessionChange {
    const waitingFor = this.#room.calls.map(({ use }): WaitingFor => {
      const type = use.type === "agent.custom_tool_use" ? "custom_tool_result" : "tool_confirmation";
      return { event_id: use.id, type, name: use.name };
    });
    return { status: waitingFor.length === 0 ? "running" : "idle", waitingFor };
  }

  /** A transcript that could not be stored is a turn that cannot be taken up again: that must not go unsaid. */
  async #flush(): Promise<SessionEventBody | undefined> {
    try {
      await this.#conversation?.flush();
      return undefined;
    } catch (error) {
      return { type: "session.error", error: turnFailure(error).error! };
    }
  }

  /** Where only background tasks kept the turn open, their end ends it, unless Claude goes on because of it. */
  #settleLater(): void {
    const turn = this.#turn;
    if (!turn?.tasksOnly || this.#tasks.length > 0) return;
    this.#rest();
    this.#timer = setTimeout(() => {
      void this.#serial.run(async () => {
        if (this.#turn === turn && turn.tasksOnly && this.#tasks.length === 0) {
          await this.#endTurn({ stop: "end_turn", stopDetails: null, reported: {} }, "stopped");
        }
      });
    }, SETTLE_MS);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #closeConversation(): Promise<void> {
    const conversation = this.#conversation;
    this.#conversation = undefined;
    this.#tasks = [];
    this.#steering.clear();
    await conversation?.close();
  }

  /** Gives process and lease back. The next message takes the session up again. */
  async #leave(): Promise<void> {
    if (this.#gone || (this.#turn && this.#room.size === 0)) return;
    this.#rest();
    await this.#closeConversation();
    await this.#outbox.drained();
    this.#gone = true;
    await this.#around.store.leases.release(this.lease);
    this.#around.onGone();
  }

  #lose(error: unknown): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#rest();
    this.#around.settings.log.warn(
      { session: this.#row.id, error: String(error) },
      "a session was lost to another writer",
    );
    void this.#closeConversation().finally(this.#around.onGone);
  }

  /** To be called when the lease is known to be lost. */
  lost(): void {
    this.#lose(new LeaseLost(this.#row.id));
  }

  // ---- writing ----

  #newTurn(message: EventId | undefined): Turn {
    return { message, startedAt: Date.now(), interrupted: false, overBudget: false, tasksOnly: false };
  }

  /** Moves an event from the inbox into the log, with what follows from it. */
  async #take(
    event: SessionEvent,
    following: readonly SessionEventBody[],
    change: SessionChange = {},
    thread: ThreadId | null = null,
  ): Promise<void> {
    const at = new Date().toISOString();
    track(this.#open, thread, event);
    this.#row = { ...this.#row, ...change };
    const entries: Entry[] = [
      { thread, event: { ...event, processed_at: at } },
      ...following.map((body) => ({ thread: isResult(body) ? thread : null, event: stamped(body, at) })),
    ];
    await this.#outbox.write(entries, { taken: [event.id], session: change });
  }

  #write(events: readonly SessionEventBody[], change: SessionChange = {}): Promise<void> {
    return this.#writeTo(
      events.map((body) => ({ thread: null, body })),
      change,
    );
  }

  async #writeTo(
    events: readonly { thread: ThreadId | null; body: SessionEventBody }[],
    change: SessionChange = {},
  ): Promise<void> {
    if (events.length === 0 && Object.keys(change).length === 0) return;
    const at = new Date().toISOString();
    this.#row = { ...this.#row, ...change };
    const entries = events.map(({ thread, body }) => ({ thread, event: stamped(body, at) }));
    for (const { thread, event } of entries) this.#threads.note(thread, event);
    await this.#outbox.write(entries, { session: change, threads: this.#threads.changed(this.#ledger) });
  }
}

const STOP_REASONS = {
  end_turn: "end_turn",
  interrupted: "end_turn",
  refusal: "refusal",
  max_turns: "retries_exhausted",
  error: "retries_exhausted",
} as const;

const stamped = (body: SessionEventBody, at: string): SessionEvent => ({
  ...body,
  id: newId("event"),
  processed_at: at,
});

const isResult = (body: SessionEventBody): boolean => body.type.endsWith("_result");
