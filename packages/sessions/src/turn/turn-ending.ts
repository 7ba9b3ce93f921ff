import type { TurnEnd } from "@tandem/claude-code";
import type { Interruption, SessionEventBody, StopDetails, StopReason } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import type { Placed } from "../log/open-turn.ts";
import { OutcomeLoop } from "./outcome-loop.ts";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { Prompt } from "./prompt-sender.ts";
import type { QuotaWait } from "./quota-wait.ts";
import type { Steering } from "./steering.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { accountsOf, cutOff, idleChange, stopReason, unsavedOf } from "./turn-end.ts";
import type { TurnMachine } from "./turn-machine.ts";
import type { TurnOutput } from "./turn-output.ts";
import type { Turn } from "./turn-state.ts";
import type { TurnStatus } from "./turn-status.ts";

interface EndingParts {
  machine: TurnMachine;
  holder: ConversationHolder;
  hooks: TurnHooks;
  quotaWait: QuotaWait;
  requests: ApprovalRequests;
  tasks: BackgroundTasks;
  steering: Steering;
  status: TurnStatus;
  output: () => TurnOutput;
  /** Closes the process. */
  close: () => Promise<void>;
  /** Sends the message of a turn that has begun. */
  send: (prompt: Prompt) => void;
  enterQuotaWait: (end: TurnEnd) => Promise<void>;
}

interface LastStatus {
  reason: StopReason;
  details: StopDetails | null;
  /** A queued message begins the next turn at once. */
  continues: boolean;
}

const INTERRUPTED = "The user interrupted the work on the outcome.";
const CUT_OFF = "The server or the grader's process died while the outcome was evaluated.";

/** Ends turns. If the session works towards an outcome, the end of a turn is evaluated, and a verdict may begin the next one. */
export class TurnEnding {
  readonly outcomes: OutcomeLoop;
  readonly #dependencies: TurnDependencies;
  readonly #parts: EndingParts;

  constructor(dependencies: TurnDependencies, parts: EndingParts) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.outcomes = new OutcomeLoop(dependencies, parts, {
      onPrompt: (message) => parts.send({ message }),
      onRest: (reason, events, change) => this.#endGrading(reason, events, change),
      onFailure: (end) => this.#onUngraded(end),
    });
  }

  get #row(): SessionRow {
    return this.#dependencies.writer.row;
  }

  /** Ends the open turn: closes its calls and writes its last event. Output that arrives meanwhile is buffered. */
  async end(end: TurnEnd, why: Interruption): Promise<void> {
    const { machine, output } = this.#parts;
    const { state } = machine;
    if (state.type === "idle" || state.type === "ending") return;
    machine.apply({ type: "end" });
    const isGrading = state.type === "grading";
    await output().holdDuring(() =>
      isGrading ? this.#leaveGrading(state.turn, end, why) : this.#end(state.turn, end, why),
    );
  }

  async #end({ id, messages, startedAt }: Turn, end: TurnEnd, why: Interruption): Promise<void> {
    const { writer, ledger, hasMessage, settings } = this.#dependencies;
    const { machine, holder, hooks, quotaWait, requests, tasks, steering } = this.#parts;
    const unsaved = await unsavedOf(holder.current);
    const unrun = cutOff(writer.open.values(), why, requests.isUnstarted);
    await writer.place([...unrun, ...requests.endings()]);
    tasks.unsettle();
    requests.clear();
    // Messages that Claude Code received and its model did not are offered to the next process.
    if (!holder.current) steering.clear();
    quotaWait.leave();
    // A hook may have stopped the turn meanwhile.
    const { stop } = machine.turn ?? {};
    ledger.turns += 1;
    const reason = stopReason(end, stop);
    const isInterrupt = stop?.isInterrupt === true || why === "interrupt";
    const continues = reason.type === "end_turn" && !isInterrupt && (await hasMessage());
    const accounts = placed([
      ...accountsOf(end, ledger, this.#row),
      ...unsaved,
      ...(stop?.limit?.events ?? []),
      ...(await hooks.after({ message: messages[0] ?? null, opening: messages[0] ?? null, startedAt }, end)),
    ]);
    const used = { usage: ledger.total, microUsd: ledger.microUsd };
    const isDone = end.stop === "end_turn" && !stop && !continues;
    const admitted = isDone ? await this.outcomes.admit() : undefined;
    if (admitted && !admitted.refusal) {
      const { events, change } = this.outcomes.start();
      await writer.place([...accounts, ...events], { ...used, ...change });
      // The session may have been lost meanwhile.
      if (machine.turn?.id !== id) return;
      machine.apply({ type: "grade", at: settings.clock.now() });
      return this.outcomes.run();
    }
    const refusal = admitted?.refusal;
    const over = isInterrupt ? this.outcomes.interrupted(INTERRUPTED) : { events: [], change: {} };
    const change = { ...used, ...this.outcomes.unevaluated(), ...over.change };
    const last = { reason: refusal?.reason ?? reason, details: end.stopDetails, continues };
    await this.#rest(id, [...accounts, ...placed(refusal?.events ?? []), ...over.events], change, last);
  }

  /** Writes the last events of a turn. The session goes idle, unless a queued message begins the next turn. */
  async #rest(
    id: number,
    events: readonly Placed[],
    change: SessionChange,
    { reason, details, continues }: LastStatus,
  ): Promise<void> {
    const { writer, takeInput, onEnd } = this.#dependencies;
    const { machine, holder, steering, status, close } = this.#parts;
    const idle: SessionEventBody = { type: "session.status_idle", stop_reason: reason, stop_details: details };
    const last = continues ? [] : placed([idle]);
    await writer.place([...events, ...last], { ...change, ...(!continues && idleChange(reason)) });
    // The session may have been lost meanwhile.
    if (machine.turn?.id === id) machine.apply({ type: "ended" });
    onEnd();
    const steered = steering.first;
    if (continues && steered) status.working(steered.id);
    else if (holder.isStale) await close();
    try {
      await takeInput();
    } finally {
      // The queued message did not begin a turn after all.
      if (continues && machine.state.type === "idle") await writer.write([idle], idleChange(reason));
    }
  }

  // Outcomes.

  /** Ends the outcome, if there is one, without a verdict. */
  async endOutcome(explanation = INTERRUPTED): Promise<void> {
    const { events, change } = this.outcomes.interrupted(explanation);
    if (events.length > 0) await this.#dependencies.writer.place(events, change);
  }

  /** Leaves an evaluation open, so that the next writer repeats it. */
  async leaveOpen(): Promise<void> {
    const { machine, hooks, close } = this.#parts;
    await Promise.all([hooks.left(), close()]);
    machine.apply({ type: "abandon" });
  }

  /** Evaluates the outcome again, because a former writer left the evaluation without a verdict. */
  async gradeAgain(isHandedOver: boolean): Promise<void> {
    const { writer, settings, lastLoss = CUT_OFF, onBegin } = this.#dependencies;
    const { machine, status } = this.#parts;
    const { events, change } = this.outcomes.start();
    const recovered: SessionEventBody[] = isHandedOver
      ? []
      : [{ type: "tandem.recovered", cause: lastLoss, closed: [] }];
    await writer.place([...placed(recovered), ...status.running(), ...events], { status: "running", ...change });
    machine.apply({ type: "grade", at: settings.clock.now() });
    onBegin();
    this.outcomes.run();
  }

  /** The verdict needs no turn, or the turn cannot begin. */
  async #endGrading(reason: StopReason, events: readonly Placed[], change: SessionChange): Promise<void> {
    const { machine, close } = this.#parts;
    const { turn } = machine;
    if (!turn) return;
    machine.apply({ type: "end" });
    const isDone = reason.type === "end_turn";
    // A new process gets the verdict with its first message.
    if (!isDone) await close();
    const continues = isDone && (await this.#dependencies.hasMessage());
    await this.#rest(turn.id, events, change, { reason, details: null, continues });
  }

  async #onUngraded(end: TurnEnd): Promise<void> {
    const { quotaWait, enterQuotaWait } = this.#parts;
    if (quotaWait.takes(end, true)) return enterQuotaWait(end);
    await this.end(end, "stopped");
  }

  /** Ends an evaluation without a verdict. Unless the user interrupted it, the outcome waits for the agent's next turn. */
  async #leaveGrading({ id }: Turn, end: TurnEnd, why: Interruption): Promise<void> {
    const { ledger, hasMessage } = this.#dependencies;
    const { machine, hooks } = this.#parts;
    const { stop } = machine.turn ?? {};
    const isInterrupt = stop?.isInterrupt === true || why === "interrupt";
    // Its requests were counted one by one.
    ledger.reconcile({});
    const over = isInterrupt
      ? this.outcomes.interrupted(INTERRUPTED)
      : { events: [], change: this.outcomes.unevaluated() };
    await this.outcomes.cancel();
    await hooks.left();
    const reason = stopReason(end, stop);
    const continues = reason.type === "end_turn" && !isInterrupt && (await hasMessage());
    const accounts = [...accountsOf(end, ledger, this.#row), ...(stop?.limit?.events ?? [])];
    const change = { usage: ledger.total, microUsd: ledger.microUsd, ...over.change };
    await this.#rest(id, [...placed(accounts), ...over.events], change, { reason, details: null, continues });
  }
}

const placed = (bodies: readonly SessionEventBody[]): Placed[] => bodies.map((body) => ({ thread: null, body }));
