import type { ConversationOutput, TurnEnd } from "@tandem/claude-code";
import type { EventOf, SessionEventBody } from "@tandem/protocol";
import type { SessionChange } from "@tandem/storage";
import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { ConversationHolder } from "../process/conversation-holder.ts";
import { needsAnswer, type OpenCall } from "../log/open-turn.ts";
import type { QuotaWait } from "./quota-wait.ts";
import type { Steering } from "./steering.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";

interface Beside {
  holder: Pick<ConversationHolder, "current">;
  inquiries: ApprovalRequests;
  companions: TurnHooks;
  parking: QuotaWait;
  tasks: BackgroundTasks;
  steering: Steering;
}

/** The turn, as it hears of what comes out. */
interface Listener {
  /** The model has taken a message that steers. */
  onTaken(message: EventOf<"user.message">): void;
  /** The model is asked: in the turn that is there, or because Claude goes on by itself. */
  onAsked(): void;
  /** The turn may stand elsewhere now. */
  onChange(): Promise<void>;
  onTurnEnded(end: TurnEnd): Promise<void>;
  onClosed(error: unknown): Promise<void>;
}

/** What comes out of a session's conversation: written down as it comes, and told to the turn that it is part of. */
export class TurnOutput {
  readonly #parts: TurnDependencies;
  readonly #beside: Beside;
  readonly #turn: Listener;
  /** Model requests of the primary thread that are under way. */
  #requests = 0;
  /** What came while the end of a turn is written down. */
  #held: ConversationOutput[] | undefined;
  #isBetweenSteps = false;

  constructor(parts: TurnDependencies, beside: Beside, turn: Listener) {
    this.#parts = parts;
    this.#beside = beside;
    this.#turn = turn;
  }

  /** Whether the model is being asked: it may have more to say. */
  get isAsking(): boolean {
    return this.#requests > 0;
  }

  /** Whether every call has its result, and the model has not said a word since: nothing is lost if the turn is left. */
  get isBetweenSteps(): boolean {
    return this.#isBetweenSteps;
  }

  /** What comes while this is done is taken afterwards. */
  async holdDuring(work: () => Promise<void>): Promise<void> {
    const isHeld = this.#held !== undefined;
    this.#held ??= [];
    try {
      await work();
    } finally {
      if (!isHeld) this.#release();
    }
  }

  /** Requests that have not ended by now are not waited for any more. */
  forgetRequests(): void {
    this.#requests = 0;
  }

  /** Nothing more is heard. */
  shut(): void {
    this.#held = [];
  }

  take(output: ConversationOutput): void {
    if (this.#held) {
      this.#held.push(output);
      return;
    }
    const { writer, next } = this.#parts;
    const { tasks, steering } = this.#beside;
    switch (output.type) {
      case "event":
        return this.#onEvent(output);
      case "delta":
        return writer.preview(output);
      case "message_taken": {
        const message = steering.take(output.uuid);
        if (message) this.#turn.onTaken(message);
        return;
      }
      case "background":
        tasks.set(output.tasks);
        void this.#turn.onChange();
        return;
      case "turn_ended":
        this.#held = [];
        return next(() => this.#turn.onTurnEnded(output.outcome).finally(() => this.#release()));
      case "closed":
        tasks.end();
        steering.clear();
        return next(() => this.#turn.onClosed(output.error));
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const output of held) this.take(output);
  }

  #onEvent({ thread, id, event }: Extract<ConversationOutput, { type: "event" }>): void {
    const { writer, ledger } = this.#parts;
    const { inquiries, companions, parking } = this.#beside;
    parking.observe(event);
    if (event.type === "span.model_request_start" && thread === null) {
      this.#requests += 1;
      this.#turn.onAsked();
    }
    if (event.type === "span.model_request_end") {
      ledger.add(thread, event);
      if (thread === null) this.#requests = Math.max(0, this.#requests - 1);
    }
    companions.observe({ type: "event", thread, id, event });
    const change: SessionChange = event.type === "tandem.init" ? { claudeSession: event.claude_session_id } : {};
    if (event.type === "session.status_rescheduled") change.status = "rescheduling";
    if (event.type === "session.status_running") change.status = "running";
    void writer.record(thread, id, event, change);
    const call = writer.open.get(id);
    if (call && needsAnswer(call)) this.#enter(call);
    inquiries.observe(event);
    void this.#turn.onChange();
    this.#noteStep(event);
  }

  #noteStep({ type }: SessionEventBody): void {
    if (!type.startsWith("agent.")) return;
    const isResult = type === "agent.tool_result" || type === "agent.mcp_tool_result";
    this.#isBetweenSteps = isResult && this.#parts.writer.open.size === 0 && !this.isAsking;
    if (this.#isBetweenSteps) this.#parts.onStep();
  }

  /** What a subagent asks for goes with its process, and need not be kept. */
  #enter(call: OpenCall): void {
    const { holder, inquiries } = this.#beside;
    const kept = call.thread === null ? holder.current?.kept(call.use.tandem.tool_use_id) : undefined;
    void inquiries.room.enter(call, kept).then(() => this.#parts.next(() => this.#turn.onChange()));
  }
}
