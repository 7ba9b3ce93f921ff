import type { TurnEnd } from "@tandem/claude-code";
import { RequestError, type EventId, type EventOf, type Interruption, type ThreadId } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { ApprovalRequests } from "../approvals/approval-requests.ts";
import type { Answer } from "../approvals/pending-calls.ts";
import { SideRequests } from "../budgets/side-requests.ts";
import { TurnHooks } from "../hooks/turn-hook.ts";
import { promptOf, type TurnInput } from "../log/outcome-prompt.ts";
import { newOutcome, withOutcome } from "../log/outcome-state.ts";
import { ConversationHolder } from "../conversation/conversation-holder.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { inheritTurn, type InheritingParts } from "./inherit-turn.ts";
import { PromptSender, type Prompt } from "./prompt-sender.ts";
import { QuotaWait } from "./quota-wait.ts";
import { refuseMessage } from "./refuse-message.ts";
import { Steering } from "./steering.ts";
import { SurvivingCalls } from "./surviving-calls.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { accountsOf } from "./turn-end.ts";
import { TurnEnding } from "./turn-ending.ts";
import { interruptedTurn, turnFailure } from "./turn-failure.ts";
import { TurnMachine } from "./turn-machine.ts";
import { TurnOutput } from "./turn-output.ts";
import { TurnStatus } from "./turn-status.ts";
import { runResult, TurnStop } from "./turn-stop.ts";
import { acceptsMessage, canSteer, isWaiting, type TurnState } from "./turn-state.ts";
import { RunLimits } from "../workflows/run-limits.ts";

/**
 * Runs a session's turns: passes messages and answers to Claude, writes the output to the log, and moves the turn from state
 * to state (see `turn-state.ts`). A turn has exactly one end; output after it belongs to the next turn.
 */
export class TurnRunner {
  readonly ending: TurnEnding;
  readonly #dependencies: TurnDependencies;
  readonly #machine = new TurnMachine();
  readonly #requests: ApprovalRequests;
  readonly #holder: ConversationHolder;
  readonly #output: TurnOutput;
  readonly #steering: Steering;
  readonly #hooks: TurnHooks;
  readonly #quotaWait: QuotaWait;
  readonly #tasks: BackgroundTasks;
  readonly #runLimits: RunLimits;
  readonly #status: TurnStatus;
  readonly #surviving: SurvivingCalls;
  readonly #promptSender: PromptSender;
  readonly #sideRequests: SideRequests;
  readonly #stop: TurnStop;
  readonly #inheriting: InheritingParts;

  constructor(dependencies: TurnDependencies) {
    this.#dependencies = dependencies;
    const { lease, ledger, writer, store, settings, database } = dependencies;
    const machine = this.#machine;
    this.#quotaWait = new QuotaWait(dependencies, machine, () => this.#sendPrompt({ isAfterReset: true }));
    this.#tasks = new BackgroundTasks(writer, settings.clock);
    this.#runLimits = new RunLimits(
      settings.clock,
      (run, error) => void this.#holder.current?.endRun(run, error).catch(() => undefined),
    );
    this.#status = new TurnStatus(dependencies, machine, this.#tasks);
    this.#hooks = new TurnHooks(
      dependencies.createTurnHooks({
        row: () => this.#row,
        lease,
        ledger,
        change: (change) => writer.write([], change),
        database,
        stop: (reason, events) => this.#stop.atLimit(reason, events),
      }),
    );
    this.#requests = new ApprovalRequests({ ...dependencies, state: machine });
    this.#sideRequests = new SideRequests(dependencies, this.#hooks, () => this.running);
    this.#holder = new ConversationHolder({
      ...dependencies,
      gateway: this.#sideRequests,
      pending: this.#requests.pending,
      onRun: (id) => this.#requests.started(id),
      admitThread: (thread) => this.#admitThread(thread),
      prepared: () => this.#hooks.prepared(),
      onOutput: (output) => this.#output.take(output),
    });
    this.#steering = new Steering(store.files);
    this.#surviving = new SurvivingCalls({
      writer,
      machine,
      requests: this.#requests,
      status: this.#status,
      close: (turn) => this.close(turn),
      resume: () => this.#resume(),
    });
    const parts = { machine, holder: this.#holder, hooks: this.#hooks, quotaWait: this.#quotaWait };
    this.#promptSender = new PromptSender(dependencies, { ...parts, requests: this.#requests });
    this.ending = new TurnEnding(dependencies, {
      ...parts,
      requests: this.#requests,
      tasks: this.#tasks,
      steering: this.#steering,
      status: this.#status,
      output: () => this.#output,
      close: () => this.close(),
      send: (prompt) => this.#sendPrompt(prompt),
      enterQuotaWait: (end) => this.#enterQuotaWait(end),
    });
    this.#stop = new TurnStop(dependencies, {
      machine,
      holder: this.#holder,
      ending: this.ending,
      close: () => this.close(),
    });
    this.#inheriting = {
      machine,
      requests: this.#requests,
      tasks: this.#tasks,
      status: this.#status,
      quotaWait: this.#quotaWait,
      ending: this.ending,
      resume: () => this.#resume(),
    };
    this.#output = new TurnOutput(
      dependencies,
      {
        ...parts,
        requests: this.#requests,
        tasks: this.#tasks,
        steering: this.#steering,
        runLimits: this.#runLimits,
      },
      {
        onTaken: (message) => void writer.take(message, this.#status.working(message.id), { status: "running" }),
        onModelRequest: () => this.#status.onModelRequest(),
        onChange: () => this.#onChange(),
        onClaudeEnded: (end) => this.#onClaudeEnded(end),
        onClosed: (error) => this.#onClosed(error),
      },
    );
  }

  get state(): TurnState {
    return this.#machine.state;
  }

  get tasks(): BackgroundTasks["running"] {
    return this.#tasks.running;
  }

  get process(): Pick<ConversationHolder, "caughtUp" | "exited" | "setBusy" | "setIdle"> {
    return this.#holder;
  }

  /** Suspends the session's processes, and starts none until `unpause`. */
  pause(): void {
    this.#holder.pause();
    this.ending.outcomes.pause();
  }

  unpause(): void {
    this.#holder.unpause();
    this.ending.outcomes.unpause();
  }

  /** Whether a turn is open. */
  get running(): boolean {
    return this.state.type !== "idle";
  }

  get #row(): SessionRow {
    return this.#dependencies.writer.row;
  }

  get #now(): number {
    return this.#dependencies.settings.clock.now();
  }

  /**
   * Takes over the turn that a former writer left open: closes its open calls, then continues or ends it. With `closes` it
   * only closes the calls, and the caller ends the turn.
   */
  inherit(closes?: true): Promise<void> {
    return inheritTurn(this.#dependencies, this.#inheriting, closes);
  }

  /** Leaves the turn open for another worker. */
  async handOver(): Promise<void> {
    const { writer, settings } = this.#dependencies;
    if (!this.running) return;
    await Promise.all([this.#hooks.left(), this.close("lost")]);
    if (!this.#machine.turn) return;
    this.#machine.apply({ type: "abandon" });
    await writer.write([{ type: "tandem.handover", from: settings.holder }, { type: "session.status_rescheduled" }], {
      status: "rescheduling",
    });
  }

  /** The session's settings changed. They take effect with the next turn. */
  async refresh(): Promise<void> {
    this.#holder.markStale();
    if (!this.running) await this.close();
  }

  /** Starts the process before there is a message. */
  async reopen(): Promise<void> {
    if (!this.running) await this.#holder.reopen();
  }

  // Input from clients.

  /** Begins a turn with a message or outcome, or steers the running one. If neither is possible, it stays queued. */
  async offer(message: TurnInput): Promise<void> {
    if (this.#steering.has(message.id)) return;
    if (acceptsMessage(this.state) && !this.#steering.first) {
      const refusal = await this.#hooks.admit();
      if (!refusal) return this.#begin(message);
      const { store, writer } = this.#dependencies;
      return this.running ? undefined : refuseMessage(store.events, writer, message, refusal);
    }
    if (message.type !== "user.message") return;
    const { delivery, commands } = message.tandem ?? {};
    if (delivery !== "steer" || commands || !canSteer(this.state) || this.#hooks.guardMessages) return;
    await this.#steering.give(message, this.#holder);
  }

  isSteeredBy(message: EventId): boolean {
    return this.#steering.has(message);
  }

  interrupt(event: EventOf<"user.interrupt">): Promise<void> {
    return this.#stop.interrupt(event);
  }

  /** False if no call waits for this answer. */
  async answer(answer: Answer): Promise<boolean> {
    const isLate = this.#holder.current === undefined;
    this.#dependencies.onBegin();
    const taken = await this.#requests.take(answer, isLate);
    if (taken?.isChanged) this.#holder.markStale();
    if (isWaiting(this.state)) this.#dependencies.onWaiting();
    else if (taken && isLate) await this.#resume();
    return taken !== undefined;
  }

  /** A later process finds it in the log. */
  async takeSystemMessage(message: EventOf<"system.message">): Promise<void> {
    await this.#dependencies.writer.take(message);
    this.#holder.systemMessages.add(message);
  }

  async stopTask(id: string): Promise<void> {
    this.#tasks.mustHave(id);
    await this.#holder.current?.stopTask(id);
  }

  async #begin(message: TurnInput): Promise<void> {
    this.#dependencies.onBegin();
    this.#tasks.unsettle();
    this.#machine.apply({ type: "begin", at: this.#now, message: message.id });
    const { writer } = this.#dependencies;
    const outcomes = message.type === "user.define_outcome" && withOutcome(writer.row, newOutcome(message, "running"));
    await writer.take(message, this.#status.running(), { status: "running", ...(outcomes && { outcomes }) });
    this.#sendPrompt({ message: promptOf(message)! });
  }

  /** Continues a turn in a new process: from its transcript, or with its message if the transcript does not have it. */
  async #resume(): Promise<void> {
    this.#machine.apply(this.running ? { type: "resume" } : { type: "begin", at: this.#now });
    const late = this.#requests.takeLate();
    const message = await this.#promptSender.unsentMessage();
    this.#sendPrompt({ ...(message && { message }), late });
  }

  #sendPrompt(prompt: Prompt): void {
    const { turn } = this.#machine;
    if (turn) void this.#drive(turn.id, prompt);
  }

  async #drive(id: number, prompt: Prompt): Promise<void> {
    const { next, look } = this.#dependencies;
    try {
      await this.#promptSender.send(id, prompt);
      // Input that arrived meanwhile may steer the turn.
      look();
    } catch (error) {
      next(() => this.#onUnsent(id, error, prompt));
    }
  }

  async #onUnsent(id: number, error: unknown, { late }: Prompt): Promise<void> {
    // A call that waits for its answer or its outcome survives the process that was to run it.
    if (!this.#machine.isOpen(id) || isWaiting(this.state)) return;
    const end = this.#machine.turn?.stop ? interruptedTurn() : turnFailure(error);
    if (await this.#surviving.afterDeath(end)) return;
    if (late && !this.#machine.turn?.stop && (await this.#surviving.afterFailedStart(late, end))) return;
    if (this.#quotaWait.takes(end, true)) return this.#enterQuotaWait(end);
    await this.close();
    await this.end(end, "stopped");
  }

  // Progress of the turn.

  /** Whether an agent of a workflow run may start. If not, the turn is stopped. */
  async #admitThread(thread: ThreadId): Promise<boolean> {
    const refusal = await this.#hooks.admitThread(thread);
    if (refusal) this.#stop.atLimit(refusal.reason, refusal.events);
    return !refusal;
  }

  #onChange(): Promise<void> {
    this.#settleLater();
    return this.#status.announce();
  }

  async #onClaudeEnded(end: TurnEnd): Promise<void> {
    const { writer, ledger, takeInput } = this.#dependencies;
    this.#sideRequests.settle();
    if (!this.running) return;
    await this.#quotaWait.learn(end);
    const stop = this.#machine.turn?.stop;
    if (!stop && this.#quotaWait.takes(end)) return this.#enterQuotaWait(end);
    if (!stop && (await this.#surviving.afterDeath(end))) return;
    // Stopping a turn stops its background tasks too.
    if (stop && this.#tasks.any) await this.close();
    // Calls that are still open when a turn fails have lost their process.
    const why = end.stop === "error" ? "crash" : "stopped";
    if (stop || !this.#tasks.any) return this.end(end, stop?.isInterrupt ? "interrupt" : why);
    this.#machine.apply({ type: "rest", end });
    await writer.write(accountsOf(end, ledger, this.#row), { usage: ledger.total, microUsd: ledger.microUsd });
    await takeInput();
  }

  async #enterQuotaWait(end: TurnEnd): Promise<void> {
    await this.close("left");
    await this.#quotaWait.enter(end);
    this.#quotaWait.wait();
  }

  /** Ends a turn whose background tasks died with the process. Other states learn of it from Claude's end or the prompt. */
  async #onClosed(error: unknown): Promise<void> {
    if (this.state.type !== "background") return;
    await this.end(turnFailure(error ?? new RequestError("unavailable", "Claude Code ended.")), "crash");
  }

  /** Ends a turn after its last background task, unless Claude continues because of the task's result. */
  #settleLater(): void {
    const { state } = this;
    if (state.type !== "background") return;
    const settle = async (): Promise<void> => {
      const now = this.state;
      if (now.type !== "background" || now.turn.id !== state.turn.id) return;
      const { stop, stopDetails } = now.end;
      await this.end({ stop, stopDetails, reported: {} }, "stopped");
    };
    this.#tasks.settle(() => this.#dependencies.next(settle));
  }

  // The end.

  end(end: TurnEnd, why: Interruption): Promise<void> {
    return this.ending.end(end, why);
  }

  /** Closes the process. `left`: the turn stays open here; `lost`: it is another worker's. */
  async close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    const graded = this.ending.outcomes.cancel();
    if (turn === "left") await this.#hooks.left();
    this.#tasks.end(runResult(this.#machine.turn?.stop));
    this.#runLimits.clear();
    this.#steering.clear();
    await Promise.all([graded, this.#holder.close(turn)]);
    if (turn !== "lost") this.#sideRequests.settle();
  }

  /** Closes the process. An open turn keeps waiting for its answers or its quota. */
  async release(): Promise<void> {
    if (!this.running) return this.close();
    this.#machine.apply({ type: "suspend" });
    await this.close("left");
  }

  /** The session was lost: nothing more is written. Resolves when the process has ended. */
  async abandon(): Promise<void> {
    this.#machine.apply({ type: "abandon" });
    this.#tasks.unsettle();
    this.#quotaWait.leave();
    this.#output.shut();
    await Promise.all([this.#hooks.left(), this.close("lost")]);
  }
}
