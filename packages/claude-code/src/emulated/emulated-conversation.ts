import { LlmError, newId } from "@tandem/protocol";
import { copiedCall } from "../session/allowed-call.ts";
import type {
  AllowedCall,
  Conversation,
  ConversationHost,
  ConversationSetup,
  TranscriptStore,
  TurnOptions,
} from "../session/conversation.ts";
import { resultLines } from "../session/finish-turn.ts";
import { Gate } from "../session/gate.ts";
import { initFacts } from "../session/init-facts.ts";
import { OUTPUT_TOOL } from "../session/process-options.ts";
import { threadId } from "../session/thread-id.ts";
import { toolNames } from "../session/tool-names.ts";
import { callsIn } from "../session/transcript/transcript-line.ts";
import type { TranslatorInput } from "../session/translate/translator-input.ts";
import { Translator } from "../session/translate/translator.ts";
import { unloggedAnswers } from "../session/transcript/unlogged-answers.ts";
import { askModel, MAX_OUTPUT_TOKENS, type ModelAnswer } from "./ask-model.ts";
import { failureMessages, failureResult, TURN_RESULT } from "./turn-result.ts";
import { initMessage } from "./init-message.ts";
import { offeredTools } from "./offered-tools.ts";
import {
  callsOf,
  ToolRunner,
  type DescribeDenial,
  type RunBuiltinTool,
  type ToolAnswer,
  type ToolRequest,
} from "./tool-runner.ts";
import { sdkMessage } from "./sdk-message.ts";
import { ModelFailure } from "./stream-model.ts";
import { EmulatedTasks, type TaskHandle } from "./emulated-tasks.ts";
import { NO_OWN_STEPS, type OwnSteps } from "./own-steps.ts";
import { runSubagent } from "./run-subagent.ts";
import { TranscriptLog } from "./transcript-log.ts";
import { UsageTotals } from "./usage-totals.ts";

export interface EmulatedParts {
  /** The Messages API that answers. */
  model: { url: string; key: string };
  runBuiltinTool: RunBuiltinTool;
  describeDenial?: DescribeDenial;
  /** Waits before a failed request is repeated. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** For a replay. By default, Claude Code does nothing by itself. */
  ownSteps?: OwnSteps;
}

type Sent = Parameters<Conversation["send"]>[0];

/**
 * A conversation without a process, for tests: a small agent loop that asks the Messages API and passes every call through the
 * same gate, and every message through the same translator, as a conversation with Claude Code. All calls of an answer
 * run at once, and subagents in the foreground. Compaction and background tasks are those of a recorded run; workflow runs
 * need Claude Code.
 */
class EmulatedConversation implements Conversation {
  readonly ready: Promise<void>;
  readonly pid = undefined;
  readonly exited = Promise.resolve();
  readonly #setup: ConversationSetup;
  readonly #host: ConversationHost;
  readonly #parts: EmulatedParts;
  readonly #transcript: TranscriptLog;
  readonly #gate: Gate;
  readonly #tools: ToolRunner;
  readonly #translator: Translator;
  readonly #waiting: Sent[] = [];
  readonly #totals = new UsageTotals();
  readonly #ownSteps: OwnSteps;
  readonly #tasks = new EmulatedTasks((message) => this.#tell(message));
  readonly #closed = new AbortController();
  readonly #ranCall = Promise.withResolvers<void>();
  #options: TurnOptions;
  #turn: { abort: AbortController; ended: Promise<void> } | undefined;
  #closing: Promise<void> | undefined;
  #failure: LlmError | undefined;

  constructor(setup: ConversationSetup, host: ConversationHost, transcripts: TranscriptStore, parts: EmulatedParts) {
    this.#setup = setup;
    this.#host = host;
    this.#parts = parts;
    this.#ownSteps = parts.ownSteps ?? NO_OWN_STEPS;
    this.#options = { model: setup.model, effort: setup.effort, planning: setup.planning ?? false };
    this.#transcript = new TranscriptLog(transcripts);
    const names = toolNames(setup);
    this.#gate = new Gate(setup, host, names, () => this.#transcript.flush());
    this.#tools = new ToolRunner(setup, {
      gate: this.#gate,
      names,
      runBuiltin: parts.runBuiltinTool,
      describeDenial: parts.describeDenial,
      runSubagent: (call, signal) => this.#runSubagent(call, signal),
      startTask: (call, kind) => this.#startTask(call, kind),
    });
    this.#translator = new Translator({
      newEventId: () => newId("event"),
      threadIdOf: (id) => threadId(setup.id, id),
      primaryThread: setup.primaryThread,
      judge: this.#gate.judge,
      isHandedOver: (id) => this.#gate.handedOver.has(id),
      names,
      outputExpected: setup.outputSchema !== undefined,
      facts: initFacts(setup),
    });
    this.#ranCall.promise.catch(() => undefined);
    this.ready = this.#open();
    this.ready.catch((error: unknown) => this.#fail(error));
  }

  get ranCall(): Promise<void> {
    return this.#ranCall.promise;
  }

  get ended(): boolean {
    return this.#failure !== undefined || this.#closing !== undefined;
  }

  send(message: Sent): void {
    if (this.ended) return;
    this.#waiting.push(message);
    void this.ready.then(() => this.#startTurn()).catch(() => undefined);
  }

  async adjust(options: TurnOptions): Promise<void> {
    this.#options = options;
  }

  remembers(uuid: string): boolean {
    return this.#transcript.remembers(uuid);
  }

  async takeBack(uuid: string): Promise<boolean> {
    const index = this.#waiting.findIndex((sent) => sent.uuid === uuid);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  async interrupt(): Promise<void> {
    await this.ready.catch(() => undefined);
    const turn = this.#turn;
    if (!turn) return;
    this.#translate({ type: "interrupting" });
    turn.abort.abort();
    await turn.ended;
  }

  async stopTask(): Promise<void> {}

  async endRun(): Promise<void> {}

  kept(): Promise<void> {
    return this.#transcript.flush();
  }

  caughtUp(): Promise<void> {
    return this.#transcript.flush();
  }

  flush(): Promise<void> {
    return this.#transcript.flush();
  }

  pause(): void {}

  unpause(): void {}

  close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    return (this.#closing ??= this.#close(turn));
  }

  async #close(turn: "ended" | "left" | "lost"): Promise<void> {
    if (turn === "ended" && this.#turn) this.#translate({ type: "interrupting" });
    this.#turn?.abort.abort();
    this.#closed.abort();
    await this.#turn?.ended;
    if (turn === "ended") this.#translate({ type: "ended", error: undefined, turnExpected: false });
    this.#gate.endAll();
    await this.#transcript.flush().catch(() => undefined);
    this.#ranCall.reject(new LlmError("process_died", "The conversation was closed before the call had a result."));
    this.#host.onOutput({ type: "closed", error: undefined });
  }

  #fail(error: unknown): void {
    if (this.ended) return;
    this.#failure = error instanceof LlmError ? error : new LlmError("process_died", String(error), { cause: error });
    this.#turn?.abort.abort();
    const turnExpected = this.#waiting.length > 0 || this.#setup.continuation !== undefined;
    this.#translate({ type: "ended", error: this.#failure, turnExpected, keepsCalls: true });
    this.#gate.endAll();
    this.#ranCall.reject(this.#failure);
    this.#host.onOutput({ type: "closed", error: this.#failure });
  }

  async #open(): Promise<void> {
    const { resume, continuation } = this.#setup;
    if (!resume) return;
    await this.#transcript.load();
    if (this.#transcript.lines.length === 0) {
      throw new LlmError("no_conversation", "The store has no messages of the conversation to resume.");
    }
    if (!continuation) return;
    const { run, results, logged } = continuation;
    const open = run ? [run.toolUseId, ...run.laterCalls] : [];
    const { added, isOpen } = resultLines(this.#transcript.lines, results, open);
    this.#transcript.append(added);
    if (!run && !isOpen) {
      for (const answer of logged ? unloggedAnswers(this.#transcript.lines, logged) : []) {
        this.#translate({ type: "unlogged", answer });
      }
      this.#host.onOutput({ type: "turn_ended", outcome: { stop: "end_turn", stopDetails: null, reported: {} } });
      return;
    }
    if (run) {
      this.#transcript.append(copiedCall(this.#transcript.lines, run));
      this.#translate({ type: "adopted", call: run });
    }
    this.#startTurn(run ?? "unfinished");
  }

  #startTurn(from?: AllowedCall | "unfinished"): void {
    if (this.#turn || this.ended || (!from && this.#waiting.length === 0)) return;
    const abort = new AbortController();
    const ended = this.#runTurn(abort.signal, from).then(
      () => (this.#turn = undefined),
      (error: unknown) => {
        this.#turn = undefined;
        this.#fail(error);
      },
    );
    this.#turn = { abort, ended: ended.then(() => this.#afterTurn()) };
  }

  /** Continues with waiting messages, or because a background task has ended. */
  async #afterTurn(): Promise<void> {
    const next = this.#ownSteps.next();
    if (next === "resume" || (next === "continue" && this.#tasks.any)) {
      if (next === "continue") await this.#tasks.endFirst();
      if (this.ended || this.#turn) return;
      this.#transcript.add("user", { content: [{ type: "text", text: "<task-notification/>" }] });
      return this.#startTurn("unfinished");
    }
    this.#startTurn();
  }

  async #runTurn(signal: AbortSignal, from: AllowedCall | "unfinished" | undefined): Promise<void> {
    const asksModel = from !== undefined || this.#ownSteps.asksModel(this.#waiting[0]?.content ?? []);
    if (!from) this.#takeMessages(1);
    this.#tell(initMessage(this.#setup, this.#options.model));
    try {
      if (typeof from === "object" && !(await this.#runEarlierCall(from, signal))) return;
      if (asksModel) await this.#answerUntilDone(signal);
      else {
        this.#compact("request");
        await this.#end({});
      }
    } catch (error) {
      if (this.#closing) return;
      if (signal.aborted) await this.#end({ terminal_reason: "aborted_streaming" });
      else if (error instanceof ModelFailure) await this.#endFailed(error);
      else throw error;
    }
  }

  /** Returns whether the turn continues with a model request. */
  async #runEarlierCall(run: AllowedCall, signal: AbortSignal): Promise<boolean> {
    const stored = this.#transcript.lines.flatMap(callsIn).find(({ id }) => id === run.toolUseId);
    const call = { id: run.toolUseId, name: run.name, input: run.changedTo ?? stored?.input ?? {} };
    this.#report(call, await this.#tools.run(call, signal));
    const notes = (run.notes ?? []).map((text) => ({ type: "text", text }));
    if (notes.length > 0) this.#transcript.add("user", { content: notes });
    if (run.laterCalls.length === 0) return true;
    await this.#transcript.flush();
    this.#ranCall.resolve();
    return false;
  }

  async #answerUntilDone(signal: AbortSignal): Promise<void> {
    const { maxTurns = Number.POSITIVE_INFINITY, outputSchema } = this.#setup;
    for (let steps = 0; steps < maxTurns; steps += 1) {
      const answer = await this.#ask(signal);
      const calls = callsOf(answer.content);
      const output = outputSchema && calls.find(({ name }) => name === OUTPUT_TOOL)?.input;
      await Promise.all(
        calls.map(async (call) => {
          const result = await this.#tools.run(call, signal);
          // The turn ends, and closes the call.
          if (!signal.aborted) this.#report(call, result);
        }),
      );
      signal.throwIfAborted();
      if (calls.length === 0 || output) {
        return await this.#end({ stop_reason: answer.stopReason, ...(output && { structured_output: output }) });
      }
      this.#takeMessages();
    }
    await this.#end({ subtype: "error_max_turns", is_error: true, errors: [], terminal_reason: "max_turns" });
  }

  #compact(when: "request" | "answer"): void {
    const compaction = this.#ownSteps.compaction(when);
    if (compaction) this.#tell({ type: "system", subtype: "compact_boundary", compact_metadata: compaction });
  }

  async #ask(signal: AbortSignal): Promise<ModelAnswer> {
    this.#compact("request");
    const answer = await askModel(
      this.#parts,
      {
        model: this.#options.model,
        max_tokens: MAX_OUTPUT_TOKENS,
        system: this.#setup.system ?? "",
        messages: this.#transcript.messages,
        tools: offeredTools(this.#setup),
      },
      {
        signal,
        tell: (message) => {
          this.#tell(message);
          if (message["status"] === "requesting") this.#compact("answer");
        },
      },
    );
    this.#totals.count(answer);
    const { id, model, usage, content, stopReason } = answer;
    this.#transcript.add("assistant", { id, model, usage, content, stop_reason: stopReason });
    return answer;
  }

  #startTask(call: ToolRequest, kind: "subagent" | "shell"): void {
    if (kind === "shell") return this.#tasks.startShell(call);
    this.#tasks.startSubagent(call, (background) => this.#runSubagent(call, this.#closed.signal, background));
  }

  #runSubagent(call: ToolRequest, signal: AbortSignal, background?: TaskHandle): Promise<string> {
    return runSubagent(call, {
      ...(background && { background }),
      setup: this.#setup,
      model: this.#options.model,
      signal,
      runTool: (own) => this.#tools.run(own, signal),
      ask: async (request) => {
        const answer = await askModel(this.#parts, request, { signal, tell: () => undefined });
        this.#totals.count(answer);
        return answer;
      },
      translate: (input) => this.#translate(input),
    });
  }

  #report({ id }: ToolRequest, { content, isError, details, notes = [] }: ToolAnswer): void {
    const block = { type: "tool_result", tool_use_id: id, content, ...(isError && { is_error: true }) };
    this.#transcript.add("user", { content: [block] });
    for (const text of notes) this.#transcript.add("user", { content: [{ type: "text", text }] });
    this.#tell({ type: "user", message: { role: "user", content: [block] }, tool_use_result: details });
  }

  /** Gives waiting messages to the model: the one that starts a turn, or all that arrived during one. */
  #takeMessages(most = this.#waiting.length): void {
    for (const { uuid, content } of this.#waiting.splice(0, most)) {
      this.#transcript.add("user", { content: [...content] }, uuid);
      this.#tell({ type: "command_lifecycle", command_uuid: uuid, state: "started" });
    }
  }

  async #endFailed(failure: ModelFailure): Promise<void> {
    for (const message of failureMessages(failure)) this.#tell(message);
    await this.#end(failureResult(failure));
  }

  async #end(result: Record<string, unknown>): Promise<void> {
    if (result["terminal_reason"] === "aborted_streaming") this.#tasks.forget();
    // Tasks that ended within the turn.
    else if (["rest", "resume"].includes(this.#ownSteps.next())) await this.#tasks.endAll();
    for (const request of this.#ownSteps.unseenRequests()) this.#totals.count(request);
    this.#tell({ ...TURN_RESULT, modelUsage: this.#totals.byModel, ...result });
  }

  #tell(message: { type: string } & Record<string, unknown>): void {
    this.#translate({ type: "message", message: sdkMessage(this.#setup.id, message) });
  }

  #translate(input: TranslatorInput): void {
    for (const output of this.#translator.accept(input)) {
      this.#host.onOutput(output);
      this.#gate.observe(output);
    }
  }
}

/** For `openConversation` of an engine. */
export const emulatedConversations =
  (parts: EmulatedParts) =>
  (setup: ConversationSetup, host: ConversationHost, transcripts: TranscriptStore): Conversation =>
    new EmulatedConversation(setup, host, transcripts, parts);
