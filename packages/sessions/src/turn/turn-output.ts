import type { ConversationOutput, TurnEnd } from "@tandem/claude-code";
import type { EventOf, SessionEventBody } from "@tandem/protocol";
import type { SessionChange } from "@tandem/storage";
import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import { isApproval } from "../approvals/outcome.ts";
import { toolState } from "../approvals/tool-state.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import { needsAnswer, type OpenCall } from "../log/open-turn.ts";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { QuotaWait } from "./quota-wait.ts";
import type { Steering } from "./steering.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { RUN_LOST } from "../log/open-runs.ts";
import { MAX_OPEN_RUNS, TOO_MANY_RUNS, type RunLimits } from "../workflows/run-limits.ts";

interface OutputDependencies {
  machine: TurnMachine;
  holder: Pick<ConversationHolder, "current">;
  requests: ApprovalRequests;
  hooks: TurnHooks;
  quotaWait: QuotaWait;
  tasks: BackgroundTasks;
  steering: Steering;
  runLimits: RunLimits;
}

interface TurnListener {
  /** The model has read a steering message. */
  onTaken(message: EventOf<"user.message">): void;
  /** A model request has started: in the open turn, or because Claude continues by itself. */
  onModelRequest(): void;
  /** Calls or background tasks have changed. */
  onChange(): Promise<void>;
  onClaudeEnded(end: TurnEnd): Promise<void>;
  onClosed(error: unknown): Promise<void>;
}

/** Writes the output of a session's conversation to the log in order, and reports it to the turn. */
export class TurnOutput {
  readonly #dependencies: TurnDependencies;
  readonly #parts: OutputDependencies;
  readonly #listener: TurnListener;
  /** Output that arrived while the end of a turn is processed. It belongs to the next turn. */
  #buffer: ConversationOutput[] = [];
  #holds = 0;

  constructor(dependencies: TurnDependencies, parts: OutputDependencies, listener: TurnListener) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#listener = listener;
  }

  /** Buffers output until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  /** Buffers output until the work is done. */
  async holdDuring(work: () => Promise<void>): Promise<void> {
    const release = this.hold();
    await work().finally(release);
  }

  /** Ignores all further output. */
  shut(): void {
    this.#holds = Infinity;
  }

  take(output: ConversationOutput): void {
    if (this.#holds > 0) {
      this.#buffer.push(output);
      return;
    }
    const { writer, next } = this.#dependencies;
    const { tasks, steering, runLimits } = this.#parts;
    switch (output.type) {
      case "event":
        return this.#onEvent(output);
      case "delta":
        return writer.preview(output);
      case "message_taken": {
        const message = steering.take(output.uuid);
        if (message) this.#listener.onTaken(message);
        return;
      }
      case "background":
        tasks.set(output.tasks);
        void this.#listener.onChange();
        return;
      case "turn_ended":
        return this.#onTurnEnded(output.outcome);
      case "closed":
        tasks.end(RUN_LOST);
        runLimits.clear();
        steering.clear();
        return next(() => this.#listener.onClosed(output.error));
    }
  }

  #onTurnEnded(end: TurnEnd): void {
    const { machine } = this.#parts;
    if (machine.state.type !== "idle") machine.apply({ type: "claudeEnded" });
    // Buffer from now on: output after this belongs to the next turn.
    const release = this.hold();
    this.#dependencies.next(() => this.#listener.onClaudeEnded(end).finally(release));
  }

  #release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    const buffered = this.#buffer;
    this.#buffer = [];
    for (const output of buffered) this.take(output);
  }

  #onEvent({ thread, id, event }: Extract<ConversationOutput, { type: "event" }>): void {
    const { writer, ledger } = this.#dependencies;
    const { machine, requests, hooks, quotaWait } = this.#parts;
    quotaWait.observe(event);
    if (event.type === "span.model_request_start" && thread === null) {
      machine.apply({ type: "requestStarted" });
      this.#listener.onModelRequest();
    }
    if (event.type === "span.model_request_end") {
      ledger.add(thread, event);
      if (thread === null) machine.apply({ type: "requestEnded" });
    }
    this.#parts.runLimits.observe(event);
    hooks.observe({ type: "event", thread, id, event });
    const change: SessionChange = event.type === "tandem.init" ? { claudeSession: event.claude_session_id } : {};
    if (event.type === "session.status_rescheduled") change.status = "rescheduling";
    if (event.type === "session.status_running") change.status = "running";
    void writer.record(thread, id, event, change);
    const call = writer.open.get(id);
    if (call && needsAnswer(call)) this.#ask(call);
    requests.observe(event);
    const isRunRefused =
      event.type === "agent.tool_use" && event.name === "Workflow" && writer.runs.size >= MAX_OPEN_RUNS;
    if (isRunRefused) void writer.write([{ type: "workflow_run.error", workflow_run_id: null, error: TOO_MANY_RUNS }]);
    void this.#listener.onChange();
    this.#noteStep(event);
  }

  #noteStep({ type }: SessionEventBody): void {
    if (!type.startsWith("agent.")) return;
    const { writer, onStep } = this.#dependencies;
    const { machine } = this.#parts;
    const isResult = type === "agent.tool_result" || type === "agent.mcp_tool_result";
    // Claude Code may report the next request before this result, so an open request alone does not mean an answer.
    machine.apply({ type: "agentEvent", isLastResult: isResult && writer.open.size === 0 });
    if (machine.state.isBetweenSteps) onStep();
  }

  /** A subagent's call ends with its process, so its transcript need not be saved first. */
  #ask(call: OpenCall): void {
    const { holder, requests } = this.#parts;
    if (isApproval(call)) void this.#dependencies.writer.place([toolState(call.use.id, "waiting")]);
    const saved = call.thread === null ? holder.current?.kept(call.use.tandem.tool_use_id) : undefined;
    void requests.pending.enter(call, saved).then(() => this.#dependencies.next(() => this.#listener.onChange()));
  }
}
