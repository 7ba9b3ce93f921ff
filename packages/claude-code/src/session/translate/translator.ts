import type {
  SDKAssistantMessage,
  SDKMessage,
  SDKResultMessage,
  SDKSystemMessage,
  SDKUserMessage,
  SDKUserMessageReplay,
} from "@anthropic-ai/claude-agent-sdk";
import type { Interruption, LlmError, ThreadId } from "@tandem/protocol";
import { z } from "zod";
import type { ConversationOutput, TurnEnd } from "../conversation.ts";
import { Answers, isAnswer } from "./answers.ts";
import { Background } from "./background.ts";
import { commandLifecycle } from "./command-lifecycle.ts";
import { Calls } from "./calls.ts";
import { Emit } from "./emit.ts";
import { IGNORED, isInternalText } from "./ignored.ts";
import { Incidents } from "./incidents.ts";
import { LeafLines } from "./leaf-lines.ts";
import { readTotals, type Reported, usedSince } from "./reported-usage.ts";
import { Spans } from "./spans.ts";
import { Threads } from "./subagent-threads.ts";
import { Todos } from "./todos.ts";
import type { TranslatorInput } from "./translator-input.ts";
import type { TranslatorSettings } from "./translator-settings.ts";
import { failure, type Hints, noHints, turnOutcome } from "./turn-outcome.ts";
import { readLaunched, readProgress } from "./workflow-message.ts";
import { WorkflowRuns } from "./workflow-runs.ts";

/** The SDK forwards this message but does not declare it. */
const fallback = z.object({
  subtype: z.literal("model_fallback"),
  original_model: z.string(),
  fallback_model: z.string(),
  trigger: z.string().optional(),
});

/** The turn would otherwise end as if it had been answered. */
const NO_ANSWER = "The model ended the turn without an answer. Send the message again, or another one.";

/** Claude Code's placeholder when no answer was requested. */
const NOTHING_SAID = "No response requested.";

/**
 * Translates Claude Code's messages to events. Deterministic and free of side effects: equal messages give equal
 * events, except for the injected ids. Every message produces an output unless it is listed as ignored.
 */
export class Translator {
  readonly #settings: TranslatorSettings;
  readonly #emit: Emit;
  readonly #calls: Calls;
  readonly #answers: Answers;
  readonly #spans: Spans;
  readonly #threads: Threads;
  readonly #background: Background;
  readonly runs: WorkflowRuns;
  readonly #leaves: LeafLines;
  readonly #todos: Todos;
  readonly #incidents: Incidents;
  #totals: Reported = {};
  #init = "";
  #hints: Hints = noHints();
  #compacted = false;
  /** Whether the primary thread has said or called anything in this turn. */
  #hasAnswered = false;
  #underWay = false;

  constructor(settings: TranslatorSettings) {
    this.#settings = settings;
    this.#emit = new Emit(settings.newEventId);
    this.#calls = new Calls(
      this.#emit,
      settings.names,
      settings.judge,
      (task) => this.#threads.ofTask(task),
      settings.isHandedOver,
    );
    this.#answers = new Answers(this.#emit, this.#calls);
    this.#spans = new Spans(this.#emit, settings.isFree);
    this.#threads = new Threads(this.#emit, { idOf: settings.threadIdOf, primary: settings.primaryThread });
    this.runs = new WorkflowRuns(this.#emit, this.#threads, {
      threadIdOf: settings.threadIdOf,
      closeCalls: (thread) =>
        this.#calls.closeAll(this.#hints.interrupting ? "interrupt" : "stopped", (call) => call.thread === thread),
    });
    this.#leaves = new LeafLines(this.runs, {
      threads: this.#threads,
      spans: this.#spans,
      answers: this.#answers,
      calls: this.#calls,
    });
    this.#background = new Background(this.#emit, this.#threads, this.runs);
    this.#todos = new Todos(this.#emit);
    this.#incidents = new Incidents(this.#emit);
  }

  /** Whether a turn is running. */
  get underWay(): boolean {
    return this.#underWay;
  }

  /** Whether the primary thread waits for tools, not for the model. */
  get waitsForTools(): boolean {
    return this.#calls.openOnPrimary > 0;
  }

  /** The workflow run of an agent: undefined while Claude Code has not named the agent. */
  runOfAgent(agent: string): { taskId: string; leaves: number } | "none" | undefined {
    if (this.runs.isEmpty) return "none";
    return this.runs.ofAgent(agent) ?? (this.#threads.ofTask(agent) ? "none" : undefined);
  }

  accept(input: TranslatorInput): ConversationOutput[] {
    switch (input.type) {
      case "message":
        this.#accept(input.message);
        break;
      case "past":
        this.#threads.remember(input.threads);
        this.#totals = input.totals;
        break;
      case "adopted":
        this.#calls.adopt(input.call.toolUseId, input.call.eventId, input.call.name);
        break;
      case "unlogged":
        if (!input.answer.isCounted) this.#spans.whole({ ...input.answer, stop_reason: "end_turn" });
        this.#answers.told(input.answer);
        break;
      case "transcript":
        if (input.leaf) this.#leaves.line(input.leaf, input.line, this.#hints.interrupting);
        this.#spans.transcript(input.line);
        break;
      case "mcp_status":
        this.#incidents.mcpStatus(input.servers);
        break;
      case "interrupting":
        this.#hints.interrupting = true;
        break;
      case "ended":
        if (input.keepsCalls && !this.#hints.interrupting) this.#calls.forgetAll();
        this.#end(input.error, input.turnExpected);
    }
    return this.#emit.take();
  }

  #end(error: LlmError | undefined, turnExpected: boolean): void {
    // A process that does not react to an interrupt is killed.
    const cause = this.#hints.interrupting ? "interrupt" : "crash";
    this.#close(error ? cause : "stopped", true);
    if (!this.#underWay && !turnExpected) return;
    this.#underWay = false;
    const outcome: Omit<TurnEnd, "reported"> =
      error && !this.#hints.interrupting ? failure(error) : { stop: "interrupted", stopDetails: null };
    this.#emit.put({ type: "turn_ended", outcome: { ...outcome, reported: {} } });
  }

  #accept(message: SDKMessage): void {
    switch (message.type) {
      case "assistant":
        return this.#assistant(message);
      case "user":
        return this.#user(message);
      case "stream_event":
        return this.#stream(message);
      case "result":
        return this.#result(message);
      case "system":
        return this.#system(message);
      case "tool_progress": {
        const call = this.#calls.find(message.tool_use_id);
        // A call that waits for a retry may name itself as parent; that starts no thread.
        if (message.subagent_retry) {
          const { subagent_retry: retry } = message;
          const thread = this.#threads.ofTask(retry.agent_id) ?? this.#threads.ofMessage(message);
          this.#incidents.subagentRetry(thread, retry);
          this.#threads.retry(thread);
        }
        if (!call) return;
        return this.#emit.delta(call.thread, {
          type: "tandem.tool_progress",
          event_id: call.eventId,
          elapsed_seconds: message.elapsed_time_seconds,
        });
      }
      case "rate_limit_event": {
        const { status, resetsAt } = message.rate_limit_info;
        if (status === "rejected" && resetsAt !== undefined) this.#hints.resetsAt = new Date(resetsAt * 1_000);
        return this.#incidents.rateLimit(message.rate_limit_info);
      }
      case "auth_status":
        if (message.error) this.#incidents.notice("warning", message.error);
        return;
      default:
        return this.#other(message);
    }
  }

  #system(message: Extract<SDKMessage, { type: "system" }>): void {
    switch (message.subtype) {
      case "init":
        return this.#begun(message);
      case "status":
        if (message.status === "requesting") this.#spans.begin();
        return;
      case "api_retry":
        this.#answers.abandon();
        this.#spans.begin();
        this.#spans.fail();
        return this.#incidents.retry(message);
      case "compact_boundary":
        this.#compacted = true;
        return this.#incidents.compacted(message.compact_metadata);
      case "task_started":
        if (message.task_type === "local_workflow") this.runs.started(message);
        if (message.task_type === "local_agent") {
          this.#threads.started(message, this.#calls.threadOf(message.tool_use_id));
        }
        return this.#background.started(message);
      case "task_updated":
        if (message.patch.is_backgrounded) this.#threads.movedToBackground(message.task_id);
        this.runs.failed(message.task_id, message.patch.error);
        return;
      case "task_progress": {
        const progress = readProgress(message);
        if (progress) this.runs.progress(progress);
        return;
      }
      case "task_notification": {
        const thread = this.#threads.ofTask(message.task_id);
        if (thread)
          this.#calls.closeAll(this.#hints.interrupting ? "interrupt" : "stopped", (call) => call.thread === thread);
        this.#threads.ended(message);
        this.runs.ended(message);
        return this.#background.ended(message);
      }
      case "background_tasks_changed":
        return this.#background.changed(message);
      case "permission_denied":
        return this.#incidents.permissionDenied(this.#calls.threadOf(message.tool_use_id), message);
      case "model_refusal_fallback":
        return this.#incidents.modelFallback(message.original_model, message.fallback_model, "refusal");
      case "model_refusal_no_fallback":
        this.#hints.refusal = message;
        return;
      case "informational":
        return this.#incidents.notice(message.level === "warning" ? "warning" : "info", message.content);
      case "notification":
        return this.#incidents.notice("info", message.text);
      case "local_command_output":
        return this.#incidents.notice("info", message.content);
      case "mirror_error":
        return this.#incidents.notice("error", `A part of the transcript was not stored: ${message.error}`);
      case "session_writes_lost":
        return this.#incidents.notice("error", `Claude Code could not write to its disk (${message.error_code}).`);
      default:
        return this.#other(message);
    }
  }

  #other(message: object & { type: string; subtype?: string }): void {
    const lifecycle = commandLifecycle(message);
    if (lifecycle) {
      if (lifecycle.state !== "started") return;
      this.#underWay = true;
      return this.#emit.put({ type: "message_taken", uuid: lifecycle.uuid });
    }
    const { data } = fallback.safeParse(message);
    if (data)
      return this.#incidents.modelFallback(data.original_model, data.fallback_model, data.trigger ?? "unavailable");
    const kind = message.subtype === undefined ? message.type : `${message.type}/${message.subtype}`;
    if (!(kind in IGNORED)) this.#emit.event(null, { type: "tandem.unknown", kind, message });
  }

  #begun(init: SDKSystemMessage): void {
    this.#underWay = true;
    const { model, cwd, claude_code_version } = init;
    const { customServer, workerServer } = this.#settings.names;
    const isOwn = (name: string): boolean => name === customServer || name === workerServer;
    const event = {
      type: "tandem.init" as const,
      model,
      tools: init.tools.map((name) => (name === "Task" ? "Agent" : name)),
      mcp_servers: init.mcp_servers.filter(({ name }) => !isOwn(name)).map(({ name, status }) => ({ name, status })),
      folder: cwd,
      claude_session_id: init.session_id,
      claude_code_version,
      ...this.#settings.facts,
    };
    // Sent with every turn, usually unchanged.
    const told = JSON.stringify(event);
    if (told === this.#init) return;
    this.#init = told;
    this.#emit.event(null, event);
  }

  #stream({ event, parent_tool_use_id }: Extract<SDKMessage, { type: "stream_event" }>): void {
    if (parent_tool_use_id !== null) return;
    this.#incidents.retried();
    this.#spans.stream(event);
    this.#answers.stream(event);
  }

  #assistant(message: SDKAssistantMessage): void {
    // A failed answer contains Claude Code's error text instead of the model's.
    if (message.error) {
      if (message.parent_tool_use_id === null) this.#hints.assistantError = message.error;
      return;
    }
    if (message.aborted) return this.#aborted(message);
    if (message.message.model === "<synthetic>") return this.#own(message);
    const thread = this.#threads.ofMessage(message);
    if (thread === null) {
      this.#spans.whole(message.message);
      this.#hasAnswered ||= message.message.content.some(isAnswer);
    } else {
      this.#spans.answer(thread, message.message);
      this.#threads.spoke(thread, message.message.content);
    }
    for (const block of message.message.content) this.#answers.block(thread, block, message.message.id);
  }

  /** Claude Code keeps the partial text of an interrupt, and the model sees it later. */
  #aborted(message: SDKAssistantMessage): void {
    const thread = this.#threads.ofMessage(message);
    for (const block of message.message.content) this.#answers.cutBlock(thread, block, message.message.id);
  }

  /** Claude Code's own output for a command that it handles itself. */
  #own({ message, parent_tool_use_id }: SDKAssistantMessage): void {
    if (parent_tool_use_id !== null) return;
    for (const block of message.content) {
      if (block.type === "text" && block.text !== NOTHING_SAID) this.#incidents.notice("info", block.text);
    }
  }

  #user(message: SDKUserMessage | SDKUserMessageReplay): void {
    const { content } = message.message;
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    for (const block of blocks) {
      if (block.type === "tool_result") {
        const call = this.#calls.result(block, message.tool_use_result, this.#hints.interrupting);
        if (!call) this.#emit.event(null, { type: "tandem.unknown", kind: "user/tool_result", message: block });
        else if (!block.is_error) this.#todos.noted(call, message.tool_use_result);
        const launched = readLaunched(message.tool_use_result);
        if (launched) this.runs.launched(launched);
      } else if (!isInternalText(message, block)) {
        const thread = this.#threads.ofMessage(message);
        this.#emit.event(thread, { type: "tandem.unknown", kind: `user/${block.type}`, message: block });
      }
    }
  }

  #result(result: SDKResultMessage): void {
    this.runs.flush();
    const outcome = turnOutcome(result, this.#hints, this.#settings.outputExpected);
    this.#close(outcome.stop === "interrupted" ? "interrupt" : "stopped", false);
    const totals = readTotals(result.modelUsage, this.#settings.isFree);
    const reported = usedSince(totals, this.#totals);
    this.#totals = totals;
    const counted = this.#spans.takeCounted();
    const isEmpty = outcome.stop === "end_turn" && !this.#hasAnswered && outcome.output === undefined;
    // Without a request, Claude Code handled a command itself.
    if (isEmpty && Object.keys(counted).length > 0) this.#incidents.notice("warning", NO_ANSWER);
    this.#hasAnswered = false;
    this.#countCompaction(reported, counted);
    this.#hints = noHints();
    this.#underWay = false;
    const { code, fix } = outcome.error?.tandem ?? {};
    // Also a notice, because no session can run until the user logs in.
    if (code === "not_logged_in") this.#incidents.notice("error", `There is no Claude login to run on. ${fix ?? ""}`);
    this.#emit.put({ type: "turn_ended", outcome: { ...outcome, reported } });
  }

  /** The compaction request is not streamed. Its usage is the turn's total minus the streamed requests. */
  #countCompaction(reported: Reported, counted: Reported): void {
    if (!this.#compacted) return;
    this.#compacted = false;
    for (const [model, { usd, contextWindow: _, ...usage }] of Object.entries(usedSince(reported, counted))) {
      this.#spans.unseen(model, usage, Math.max(usd, 0));
    }
  }

  /** Closes everything that the end of a turn leaves open. */
  #close(why: Interruption, all: boolean): void {
    const isRunning = (thread: ThreadId | null): boolean => !all && this.#threads.isInBackground(thread);
    this.#answers.cut(why);
    this.#spans.fail();
    this.#incidents.retried();
    this.#calls.closeAll(why, ({ thread }) => !isRunning(thread));
    this.#spans.settle((thread) => !isRunning(thread));
    this.#threads.endAll(all);
    if (all) this.runs.forget();
  }
}
