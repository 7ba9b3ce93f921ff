import type { EffortLevel, Query, SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { AsyncQueue, LlmError, newId, type WorkflowRunError, type WorkflowRunId } from "@tandem/protocol";
import type { Child } from "../child.ts";
import { checkPayer } from "../isolation.ts";
import { asLlmError } from "../process-errors.ts";
import { exitError, withinDeadline } from "../within-deadline.ts";
import { BootHooks } from "./allowed-call.ts";
import type {
  Conversation,
  ConversationHost,
  ConversationOutput,
  ConversationSetup,
  TranscriptStore,
  TurnOptions,
} from "./conversation.ts";
import { conversationVariables } from "./conversation-variables.ts";
import { processCredential } from "./config-dir.ts";
import { projectsFolder } from "./forget-conversation.ts";
import { Gate } from "./gate.ts";
import { initFacts } from "./init-facts.ts";
import { LeafGate } from "./leaf-gate.ts";
import { readPast } from "./transcript/read-past.ts";
import { RemoteServers } from "./remote-servers.ts";
import type { Recording, TranslatorInput } from "./translate/translator-input.ts";
import { checkSessionInit } from "./process-options.ts";
import { startQuery } from "./start-query.ts";
import { toolNames } from "./tool-names.ts";
import { threadId } from "./thread-id.ts";
import { TranscriptMirror } from "./transcript/transcript-mirror.ts";
import type { ToolNames } from "./translate/calls.ts";
import { commandLifecycle } from "./translate/command-lifecycle.ts";
import { Translator } from "./translate/translator.ts";
import { readLeafPath } from "./translate/workflow-message.ts";
import { cancelMessage } from "./turn/cancel-message.ts";
import { ExpectedTurn } from "./turn/expected-turn.ts";
import type { TranscriptLine } from "./transcript/transcript-line.ts";
import { unloggedAnswers } from "./transcript/unlogged-answers.ts";

/** The least time to wait for the transcript, which Claude Code writes about 100 ms after its output. */
const CAUGHT_UP_MS = 2_000;

/** Claude Code confirms an interrupt within milliseconds. A suspended process never does. */
const INTERRUPT_MS = 4_000;

export class ClaudeConversation implements Conversation {
  readonly ready: Promise<void>;
  readonly #setup: ConversationSetup;
  readonly #host: ConversationHost;
  readonly #recording: Recording | undefined;
  readonly #names: ToolNames;
  readonly #servers: RemoteServers;
  readonly #gate: Gate;
  readonly #translator: Translator;
  readonly #mirror: TranscriptMirror;
  readonly #turn: ExpectedTurn;
  readonly #leaves: LeafGate;
  readonly #input = new AsyncQueue<SDKUserMessage>();
  readonly #query: Query;
  readonly #gone: Promise<void>;
  #bootHooks: BootHooks | undefined;
  #child: Child | undefined;
  /** Whether this process, and not an earlier one, has completed a turn, so that its work is in the transcript. */
  #hasWorked = false;
  readonly #ranCall = Promise.withResolvers<void>();
  readonly ranCall = this.#ranCall.promise;
  #failure: LlmError | undefined;
  #closing: Promise<void> | undefined;
  #left = false;
  #isPaused = false;
  #options: TurnOptions;

  constructor(
    setup: ConversationSetup,
    host: ConversationHost,
    transcripts: TranscriptStore,
    recording: Recording | undefined,
  ) {
    this.#setup = setup;
    this.#host = host;
    this.#recording = recording;
    this.#options = { model: setup.model, effort: setup.effort, planning: setup.planning ?? false };
    this.#names = toolNames(setup);
    const threadIdOf = (toolUseId: string) => threadId(setup.id, toolUseId);
    this.#servers = new RemoteServers(setup, this.#names);
    this.#gate = new Gate(setup, host, this.#names, (toolUseId) => this.#mirror.stored([toolUseId]));
    this.#translator = new Translator({
      newEventId: () => newId("event"),
      threadIdOf,
      primaryThread: setup.primaryThread,
      judge: this.#gate.judge,
      isHandedOver: (toolUseId) => this.#gate.handedOver.has(toolUseId),
      names: this.#names,
      outputExpected: setup.outputSchema !== undefined,
      isFree: setup.credential.type === "api_key" && setup.credential.isFree === true,
      facts: initFacts(setup),
    });
    this.#leaves = new LeafGate({
      setup,
      host,
      threadIdOf,
      runOf: (agent) => this.#translator.runOfAgent(agent),
      end: (taskId, error) => {
        this.#translator.runs.refuse(taskId, error);
        this.stopTask(taskId).catch((reason: unknown) => this.#fail(asLlmError(reason)));
      },
    });
    this.#turn = new ExpectedTurn(setup, this.#translator, (error) => this.#fail(error));
    const run = setup.continuation?.run;
    if (run) this.#bootHooks = new BootHooks(setup.stateFolder, run);
    this.#mirror = new TranscriptMirror(transcripts, {
      projectsFolder: projectsFolder(setup),
      continuation: setup.continuation,
      onFound: (found, isOpen) => {
        this.#translate({ type: "past", ...readPast(found) });
        if (run) this.#translate({ type: "adopted", call: run });
        if (setup.continuation && !isOpen) this.#endFinishedTurn(found.get("") ?? []);
      },
      onLine: (subpath, line) => {
        const leaf = readLeafPath(subpath);
        if (subpath !== "") this.#translate({ type: "transcript", line, ...(leaf && { leaf }) });
      },
    });
    this.#query = startQuery(setup, {
      variables: { ...conversationVariables(setup), ...recording?.variables },
      input: this.#input,
      names: this.#names,
      gate: this.#gate,
      leaves: this.#leaves,
      transcripts: this.#mirror,
      onSpawn: (child) => {
        this.#child = child;
        if (this.#isPaused) child.pause();
      },
      ...(this.#bootHooks && { bootHooks: this.#bootHooks }),
      ...(recording?.options && { extra: recording.options }),
    });
    this.#gone = this.#read();
    this.ready = this.#comeUp();
    this.ranCall.catch(() => {});
    // Callers that do not await `ready` learn of the failure through `closed`.
    this.ready.catch((error: unknown) => this.#fail(asLlmError(error)));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get exited(): Promise<void> {
    return this.#child?.gone ?? Promise.resolve();
  }

  get ended(): boolean {
    return this.#failure !== undefined || this.#closing !== undefined;
  }

  send({ uuid, content, isCommand = false }: Parameters<Conversation["send"]>[0]): void {
    if (this.ended) return;
    this.#turn.send(uuid);
    this.#input.push({
      type: "user",
      uuid: uuid as SDKUserMessage["uuid"] & string,
      message: { role: "user", content: [...content] as SDKUserMessage["message"]["content"] },
      parent_tool_use_id: null,
      ...(!isCommand && { client_composed: true }),
    });
  }

  async adjust(options: TurnOptions): Promise<void> {
    const { model, effort, planning } = options;
    const before = this.#options;
    const change = async (): Promise<void> => {
      // Not `setModel`, which sends a model request.
      if (model !== before.model || effort !== before.effort)
        await this.#query.applyFlagSettings({ model, effortLevel: (effort as EffortLevel | undefined) ?? null });
      if (planning !== before.planning) await this.#query.setPermissionMode(planning ? "plan" : "default");
    };
    await this.#within(this.#setup.deadlines.init, "change its model", change());
    this.#options = options;
  }

  remembers(uuid: string): boolean {
    return this.#mirror.remembers(uuid);
  }

  async takeBack(uuid: string): Promise<boolean> {
    const confirmed = this.#turn.confirmed(uuid);
    if (!confirmed) return false;
    // Before it has received the message, Claude Code would answer that it does not know it.
    const cancelled = await this.#within(
      this.#setup.deadlines.init,
      "withdraw a message",
      confirmed.then(() => cancelMessage(this.#query, uuid)),
    );
    if (cancelled) this.#turn.takeBack(uuid);
    return cancelled;
  }

  async interrupt(): Promise<void> {
    if (this.ended || !this.#turn.isExpected) return;
    const ended = this.#turn.end;
    this.#translate({ type: "interrupting" });
    try {
      await this.ready;
      // Before it has received the turn's first message, Claude Code would have nothing to interrupt.
      const interrupted = this.#turn.allConfirmed().then(() => this.#query.interrupt());
      await this.#within(INTERRUPT_MS, "react to an interrupt", interrupted);
      await this.#within(this.#setup.deadlines.init, "end its turn", ended);
    } catch (error) {
      this.#fail(asLlmError(error));
      await this.#gone;
    }
  }

  async endRun(run: WorkflowRunId, error: WorkflowRunError): Promise<void> {
    const task = this.#translator.runs.taskOfRun(run);
    if (task === undefined) return;
    this.#translator.runs.refuse(task, error);
    await this.stopTask(task);
  }

  async stopTask(id: string): Promise<void> {
    await this.#within(this.#setup.deadlines.init, "stop a task", this.#query.stopTask(id));
  }

  kept(toolUseId: string): Promise<void> {
    return this.#gate.untilStored(toolUseId);
  }

  async caughtUp(withinMs: number): Promise<void> {
    const stored = this.#mirror.stored(this.#gate.open, this.#gate.finished);
    const wait = (ms: number): Promise<void> => this.#within(ms, "write its transcript", stored);
    // A process that has died writes no more.
    const died = this.#gone.then(() => wait(CAUGHT_UP_MS));
    await Promise.race([wait(Math.max(CAUGHT_UP_MS, withinMs)), died]).catch(() => {});
  }

  flush(): Promise<void> {
    return this.#mirror.flush(this.#hasWorked);
  }

  pause(): void {
    this.#isPaused = true;
    this.#child?.pause();
  }

  unpause(): void {
    this.#isPaused = false;
    this.#child?.unpause();
  }

  close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    if (turn === "lost") void this.#child?.kill(0);
    return (this.#closing ??= turn !== "ended" && this.#translator.underWay ? this.#leave(turn) : this.#close());
  }

  async #comeUp(): Promise<void> {
    const { spawn, init } = this.#setup.deadlines;
    const { account } = await this.#within(spawn + init, "become ready", this.#query.initializationResult());
    checkPayer(account, processCredential(this.#setup));
  }

  async #read(): Promise<void> {
    let reason = "it ended by itself";
    try {
      for await (const message of this.#query) this.#accept(message);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    const error = this.#closing
      ? undefined
      : (this.#failure ?? this.#mirror.failure ?? (await exitError(this.#child, reason)));
    this.#failure ??= error;
    this.#turn.rest();
    // Before the open calls are closed: a command that still runs could have an effect after its reported end.
    await this.#child?.kill(this.#setup.deadlines.exit);
    if (!this.#left) {
      this.#translate({ type: "ended", error, turnExpected: this.#turn.isExpected, keepsCalls: error !== undefined });
    }
    this.#gate.endAll();
    await this.#mirror.flush(false).catch(() => {});
    this.#bootHooks?.[Symbol.dispose]();
    this.#ranCall.reject(error ?? new LlmError("process_died", "The process was closed before the call had a result."));
    this.#host.onOutput({ type: "closed", error });
  }

  #accept(message: SDKMessage): void {
    if (this.#failure) return;
    if (this.#setup.continuation?.run?.laterCalls.length && this.#acceptBlocked(message)) return;
    if (message.type === "system" && message.subtype === "init") {
      try {
        checkSessionInit(message, this.#setup, this.#names);
      } catch (error) {
        return this.#fail(asLlmError(error));
      }
      this.#lookAtServers(message.mcp_servers);
    }
    // Claude Code leaves plan mode by itself once a plan is approved.
    if (message.type === "system" && "permissionMode" in message && message.permissionMode) {
      this.#options = { ...this.#options, planning: message.permissionMode === "plan" };
    }
    if (message.type === "result" && this.#turn.isOfLostRun(message)) return;
    if (message.type === "result") this.#hasWorked = true;
    const lifecycle = commandLifecycle(message);
    if (lifecycle) this.#turn.confirm(lifecycle.uuid);
    this.#translate({ type: "message", message });
    this.#turn.observe(message);
  }

  /** Claude Code reports that it was kept from continuing the turn. Returns whether the message was about that. */
  #acceptBlocked(message: SDKMessage): boolean {
    if (message.type === "result") {
      this.#hasWorked = true;
      this.#turn.cancel();
      this.#ranCall.resolve();
    }
    return message.type === "result" || (message.type === "system" && message.subtype === "informational");
  }

  /** The turn had ended in the earlier process, which reported neither its end nor perhaps its last answer. */
  #endFinishedTurn(transcript: readonly TranscriptLine[]): void {
    this.#turn.rest();
    const { logged } = this.#setup.continuation ?? {};
    for (const answer of logged ? unloggedAnswers(transcript, logged) : [])
      this.#translate({ type: "unlogged", answer });
    this.#tell([{ type: "turn_ended", outcome: { stop: "end_turn", stopDetails: null, reported: {} } }]);
  }

  #translate(input: TranslatorInput): void {
    this.#recording?.onInput(input);
    this.#tell(this.#translator.accept(input));
    this.#leaves.observe();
  }

  #tell(outputs: readonly ConversationOutput[]): void {
    for (const output of outputs) {
      if (!this.#turn.take(output)) continue;
      if (output.type === "event" && output.event.type.endsWith("tool_result")) this.#bootHooks?.useUp();
      this.#host.onOutput(output);
      this.#gate.observe(output);
      if (output.type === "turn_ended") this.#turn.endTurn();
    }
  }

  /** Every turn starts with the states of the MCP servers; the reason of a failure needs a separate request. */
  #lookAtServers(servers: readonly { name: string; status: string }[]): void {
    if (!this.#servers.hasChanged(servers)) return;
    this.#within(this.#setup.deadlines.init, "name its MCP servers", this.#query.mcpServerStatus()).then(
      (states) => this.#translate({ type: "mcp_status", servers: this.#servers.remote(states) }),
      () => {},
    );
  }

  /** The process is no longer reliable: kill it, and end the running turn with the error. */
  #fail(error: LlmError): void {
    if (this.ended) return;
    this.#failure = error;
    this.#turn.rest();
    void this.#child?.kill(0);
    this.#query.close();
  }

  async #close(): Promise<void> {
    this.#turn.rest();
    const { exit } = this.#setup.deadlines;
    if (this.#translator.underWay && !this.#failure) {
      this.#translate({ type: "interrupting" });
      // If closed in mid-answer, Claude Code would continue it or send another request.
      const ms = Math.min(exit, INTERRUPT_MS);
      await this.#within(ms, "end its turn", this.#query.interrupt()).catch(() => this.#child?.kill(0));
    }
    // While it exits, Claude Code would start the run's next agents, without our hooks.
    const stops = this.#failure ? [] : this.#translator.runs.tasks.map((task) => this.#query.stopTask(task));
    await this.#within(Math.min(exit, INTERRUPT_MS), "stop a run", Promise.all(stops)).catch(() =>
      this.#child?.kill(0),
    );
    this.#input.end();
    this.#query.close();
    // Claude Code exits by itself and records its usage; kill it only if it does not.
    const late = setTimeout(() => void this.#child?.kill(0), exit);
    await this.#gone;
    clearTimeout(late);
  }

  /** Kill without a graceful exit: anything Claude Code wrote at its end would go into the transcript. */
  async #leave(turn: "left" | "lost"): Promise<void> {
    this.#left = true;
    this.#turn.rest();
    if (turn === "left") {
      const stored = this.#mirror.stored(this.#gate.open);
      await this.#within(this.#setup.deadlines.exit, "write its transcript", stored).catch(() => {});
    }
    void this.#child?.kill(0);
    this.#query.close();
    await this.#gone;
  }

  #within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
    return withinDeadline(
      { ms, what, child: () => this.#child, failure: () => this.#failure ?? this.#mirror.failure },
      work,
    );
  }
}
