import { randomUUID } from "node:crypto";
import type {
  AllowedCall,
  Conversation,
  ConversationOutput,
  ConversationSetup,
  Decision,
  ProcessSlot,
} from "@tandem/claude-code";
import { secretOf } from "@tandem/claude-code/credential";
import {
  LlmError,
  RequestError,
  type EventId,
  type EventOf,
  type SessionEventBody,
  type ThreadId,
} from "@tandem/protocol";
import type { Lease, Store } from "@tandem/storage";
import { approvalNote } from "../approvals/approval-note.ts";
import type { GatewayWatch } from "../budgets/side-requests.ts";
import type { DatabaseWait } from "../host/database-wait.ts";
import type { JudgedCall } from "@tandem/policy";
import type { Rules } from "../rules/kept-rules.ts";
import { plansFolder } from "./plans-folder.ts";
import { createHost } from "./conversation-host.ts";
import { conversationSetup } from "../process/conversation-setup.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { openSessionSkills } from "../skills/session-skills.ts";
import { openProcessSetup, type ProcessSetup } from "../process/process-setup.ts";
import { admitLateCall, sessionJudge } from "../process/session-judge.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import { readOpenTurn } from "../log/open-turn.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { PROCESS_STARTS } from "../process/start-gate.ts";
import type { Spare } from "../spares/spare.ts";
import type { Spares } from "../spares/spares.ts";
import { SystemMessages } from "./system-messages.ts";
import { loggedAnswers } from "./logged-answers.ts";
import { transcriptStore } from "../process/transcript-store.ts";
import { modelEvent, turnOptions } from "../process/turn-options.ts";
import type { PendingApprovals } from "../approvals/pending-approvals.ts";

interface HolderDependencies {
  store: Store;
  settings: ProcessSettings;
  lease: Lease;
  writer: SessionWriter;
  pending: PendingApprovals;
  /** A call that a person allowed is about to run. Resolves when that is durable. */
  onRun: (call: EventId) => Promise<void>;
  /** Whether an agent of a workflow run may start. */
  admitThread: (thread: ThreadId) => Promise<boolean>;
  /** Resolves when tools and hooks may change files. */
  prepared: () => Promise<void>;
  rules: Rules;
  definitions: ToolDefinitions;
  database: DatabaseWait;
  onOutput: (output: ConversationOutput) => void;
  gateway: GatewayWatch;
  spares: () => Pick<Spares, "take" | "want"> | undefined;
}

type StartedConversation = Pick<ConversationSetup, "id" | "resume" | "continuation">;

/** The Claude Code process of a session, while there is one. Output of former processes is ignored. */
export class ConversationHolder {
  readonly #dependencies: HolderDependencies;
  readonly systemMessages = new SystemMessages();
  #current: Conversation | undefined;
  /** Remembered after its end. */
  #last: Conversation | undefined;
  #opening: Promise<Conversation> | undefined;
  #closings = 0;
  /** The process was started with settings that have changed since. */
  #isStale = false;
  /** Resolves when servers and files of the last process are released. */
  #released: Promise<void> = Promise.resolve();
  /** Resolves when processes may run again. */
  #paused: PromiseWithResolvers<void> | undefined;
  /** The slot of the process. */
  #slot: ProcessSlot | undefined;
  /** The slot of the process that is about to start. */
  #reserved: ProcessSlot | undefined;
  #slotRequest: AbortController | undefined;
  /** Model and effort as last logged. */
  #announced = "";
  #runsFolderHooks = false;

  constructor(dependencies: HolderDependencies) {
    this.#dependencies = dependencies;
  }

  /** The process that takes messages, ready or not. */
  get current(): Conversation | undefined {
    return this.#current?.ended ? undefined : this.#current;
  }

  /** Whether the process runs hooks of a trusted folder. They do not pass the gate. */
  get runsFolderHooks(): boolean {
    return this.current !== undefined && this.#runsFolderHooks;
  }

  /**
   * Resolves with a ready conversation: the running one, one resumed from its transcript, or a new one. With `continuation` it
   * continues the turn that a former process left.
   */
  open(continuation?: ConversationSetup["continuation"]): Promise<Conversation> {
    const isRunning = this.#opening !== undefined || this.current !== undefined;
    const opened = this.#open(continuation);
    const { spares, writer } = this.#dependencies;
    if (!isRunning) opened.then(() => spares()?.want(writer.row, true)).catch(() => {});
    return opened;
  }

  /** Resumes the conversation before there is a message, if a process may run now. */
  async reopen(): Promise<void> {
    const { settings, writer } = this.#dependencies;
    if (this.current || this.#opening || this.#reserved || !writer.row.claudeSession) return;
    const { processes } = settings;
    const slot = processes?.slots.tryTake(`${processes.owner} spares`);
    if (processes && !slot) return;
    this.#reserved = slot;
    await this.#open();
  }

  #open(continuation?: ConversationSetup["continuation"]): Promise<Conversation> {
    if (this.#opening) return this.#opening;
    if (this.current) return Promise.resolve(this.current);
    this.#opening = this.#startOrResume(continuation, this.#closings).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /**
   * Waits until a process may run, unless the session has one. `user`: slots are shared evenly between users. Rejects with
   * `aborted` after `cancelReserve` or `close`.
   */
  async reserve(user: string, onWait?: (ahead: number) => void): Promise<void> {
    // A process that is being reopened has a slot.
    await this.#opening?.catch(() => {});
    await this.#takeSlot(user, onWait);
  }

  async #takeSlot(user: string, onWait?: (ahead: number) => void): Promise<void> {
    const { processes } = this.#dependencies.settings;
    if (!processes || this.current || this.#reserved) return;
    const request = (this.#slotRequest = new AbortController());
    try {
      const owner = `${processes.owner} ${user}`;
      const slot = await processes.slots.take({ owner, signal: request.signal, ...(onWait && { onWait }) });
      if (request.signal.aborted) slot.free();
      else this.#reserved = slot;
      request.signal.throwIfAborted();
    } finally {
      if (this.#slotRequest === request) this.#slotRequest = undefined;
    }
  }

  cancelReserve(): void {
    this.#slotRequest?.abort();
  }

  /** `end` ends the process if another session waits for one. */
  setIdle(end: () => Promise<unknown>, isWaiting: boolean): void {
    this.#slot?.setIdle(end, isWaiting);
  }

  setBusy(): void {
    this.#slot?.setBusy();
  }

  /** Runs work that needs a process of its own. The slot of this one does not count meanwhile. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    return this.#slot && this.current ? this.#slot.lend(work) : work();
  }

  /** Whether the process should end after this turn: its settings have changed, or another session waits for a process. */
  get isStale(): boolean {
    return this.#isStale || this.#slot?.isWanted === true;
  }

  /** The process is to be replaced before the next turn. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Resolves when no process of the session is left. What it has written may not be stored yet. */
  async exited(): Promise<void> {
    await this.#last?.exited;
  }

  /** Resolves when the stored transcript has caught up with the log, or after this time. */
  async caughtUp(withinMs: number): Promise<void> {
    await this.current?.caughtUp(withinMs);
  }

  /** Suspends the process and its descendants, and starts none until `unpause`. */
  pause(): void {
    this.#paused ??= Promise.withResolvers();
    this.#current?.pause();
  }

  unpause(): void {
    if (!this.#paused) return;
    this.#current?.unpause();
    this.#paused.resolve();
    this.#paused = undefined;
  }

  async close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    this.#paused?.resolve();
    this.#paused = undefined;
    this.#isStale = false;
    const conversation = this.#current;
    this.#current = undefined;
    this.#closings += 1;
    this.cancelReserve();
    this.#reserved?.free();
    this.#reserved = undefined;
    await conversation?.close(turn);
    await this.#released;
  }

  /** Applies the model and effort of a message. Returns the events to log. */
  async adjust(conversation: Conversation, message: EventOf<"user.message">): Promise<SessionEventBody[]> {
    const { settings, writer } = this.#dependencies;
    const options = turnOptions(writer.row, settings, message);
    await conversation.adjust(options);
    const choice = JSON.stringify([options.model, options.effort]);
    const usual = JSON.stringify([writer.row.agent.model.id, writer.row.agent.model.effort?.type]);
    const before = this.#announced || usual;
    this.#announced = choice;
    return choice === before ? [] : [modelEvent(options, await settings.models())];
  }

  /**
   * A logged conversation may have no stored transcript: that shows only when it is resumed. `closings`: as many as when the start
   * was asked for. A start that has waited meanwhile, for the database or a place, must not follow the session's end.
   */
  async #startOrResume(continuation: ConversationSetup["continuation"], closings: number): Promise<Conversation> {
    // Wait for the former process to end: there must never be two.
    await this.#current?.close();
    const known = this.#dependencies.writer.row.claudeSession;
    // Empty after a rewind to the beginning.
    if (!known) return this.#start({ id: randomUUID(), resume: false }, closings);
    try {
      if (!continuation) return await this.#start({ id: known, resume: true }, closings);
      const { store, writer } = this.#dependencies;
      const logged = loggedAnswers(await readOpenTurn(store.events, writer.row.id));
      return await this.#start({ id: known, resume: true, continuation: { ...continuation, logged } }, closings);
    } catch (error) {
      if (!isNothingKept(error) || continuation) throw error;
      return this.#start({ id: randomUUID(), resume: false }, closings);
    }
  }

  /** A new conversation uses the process that was started ahead for this session, if it still fits. */
  async #start(conversation: StartedConversation, closings: number): Promise<Conversation> {
    const { writer } = this.#dependencies;
    const spares = this.#dependencies.spares();
    const spare = conversation.resume ? undefined : await spares?.take(writer.row.id);
    const ahead = spare && (await this.#launch({ id: spare.conversationId, resume: false }, closings, spare));
    const opened = ahead ?? (await this.#launch(conversation, closings));
    if (!opened) throw new RequestError("unavailable", "Claude Code was not started.");
    return opened;
  }

  /** Undefined if the spare does not fit; it has ended then. */
  async #launch(conversation: StartedConversation, closings: number, spare?: Spare): Promise<Conversation | undefined> {
    const { store, settings, lease, writer, definitions } = this.#dependencies;
    const { row } = writer;
    await using parts = new AsyncDisposableStack();
    if (spare) parts.use(spare);
    // A process that could not resume its transcript has given its slot back.
    await this.#takeSlot("");
    const slot = this.#reserved;
    this.#reserved = undefined;
    parts.defer(() => slot?.free());
    this.#slot = slot;
    const write = (events: SessionEventBody[]): void => void writer.write(events);
    const { gateway } = this.#dependencies;
    const around = {
      store,
      definitions,
      isFirst: row.claudeSession === undefined,
      write,
      gateway,
      hide: (secret: string) => writer.redactor.hide(secret),
      // The next turn starts another process, which tries again.
      onLoginFailed: () => this.markStale(),
    };
    const isCurrent = spare?.isCurrent();
    const ruled = { id: row.id, agentId: row.agent.id, folder: row.folder };
    const reads = Promise.all([
      this.systemMessages.read(store.events, row.id),
      transcriptStore(store.transcripts, lease, conversation),
      this.#dependencies.database.run(() => this.#dependencies.rules.rulesOf(ruled)),
    ]);
    // Awaited below; until then, a failed setup comes first.
    reads.catch(() => {});
    const processSetup = spare?.processSetup ?? parts.use(await openProcessSetup(row, settings, around));
    const [added, transcripts, sessionRules] = await reads;
    const skills = parts.use(await openSessionSkills(row, { ...settings, store }));
    const setup = await conversationSetup(row, conversation, settings, { ...processSetup, skills }, added);
    if (spare && !((await isCurrent) && (await spare.fits(setup)))) return undefined;
    // A late call runs as soon as its process starts.
    if (setup.continuation) await this.#dependencies.prepared();
    using _ = spare ? undefined : await PROCESS_STARTS.enter();
    await this.#paused?.promise;
    if (closings !== this.#closings) throw new RequestError("unavailable", "The session was closed meanwhile.");
    const events = [...processSetup.events, ...skills.events];
    if (events.length > 0) await writer.write(events);
    const hostServers = setup.hostServers ?? [];
    const skillFolders = [setup.trusted?.skillsIn, skills.folder].filter((folder) => folder !== undefined);
    const plans = plansFolder(setup);
    const judge = sessionJudge({ writer, settings, sessionRules, processSetup, hostServers, plans, skillFolders });
    const secret = secretOf(setup.credential);
    if (secret !== undefined) writer.redactor.hide(secret);
    const host = createHost({
      judge,
      note: (call) =>
        approvalNote(call, {
          row: writer.row,
          expire: settings.approvals?.expire,
          sessionRules,
          clock: settings.clock,
        }),
      pending: this.#dependencies.pending,
      systemMessages: this.systemMessages,
      onRun: this.#dependencies.onRun,
      admitThread: this.#dependencies.admitThread,
      durable: async () => {
        await this.#dependencies.prepared();
        await writer.durable();
      },
      onOutput: (output) => {
        processSetup.observe(output);
        if (output.type === "closed") this.#released = owned.disposeAsync();
        if (opened !== this.#current) return;
        if (output.type === "closed") this.#current = undefined;
        if (output.type === "closed" && isNothingKept(output.error)) return;
        for (const redacted of writer.redactor.output(output)) this.#dependencies.onOutput(redacted);
      },
    });
    this.#runsFolderHooks = Object.keys(setup.trusted?.hooks ?? {}).length > 0;
    if (this.#runsFolderHooks) await this.#dependencies.prepared();
    const run = setup.continuation?.run && (await this.#startCall(setup.continuation.run, judge, processSetup));
    if (closings !== this.#closings) throw new RequestError("unavailable", "The session was closed meanwhile.");
    if (setup.continuation && run) setup.continuation = { ...setup.continuation, run };
    const bound = { ...host, ...this.#toolHooks(processSetup) };
    if (spare?.conversation.ended) return undefined;
    const opened = spare
      ? spare.bind({ ...around, host: bound, transcripts, hostServers })
      : settings.openConversation(setup, bound, transcripts);
    // The process owns it from now on.
    const owned = parts.move();
    this.#current = this.#last = opened;
    try {
      await opened.ready;
    } catch (error) {
      if (this.#current === opened) this.#current = undefined;
      throw error;
    }
    return opened;
  }

  /** The host's hooks are programs, which may change files. */
  #toolHooks({ hooks }: ProcessSetup): ProcessSetup["hooks"] {
    const { beforeTool } = hooks;
    if (!beforeTool || !this.#dependencies.settings.hooks?.length) return hooks;
    return {
      ...hooks,
      beforeTool: async (call) => {
        await this.#dependencies.prepared();
        return beforeTool(call);
      },
    };
  }

  /** Logs the start of a call that the process will run. After an earlier failure the call is still allowed. */
  async #startCall(
    run: AllowedCall,
    judge: (call: JudgedCall) => Decision,
    { hooks }: ProcessSetup,
  ): Promise<AllowedCall> {
    const { writer, onRun } = this.#dependencies;
    const input = run.changedTo ?? writer.open.get(run.eventId)?.use.input ?? {};
    const changedTo = await admitLateCall({ ...run, input }, judge, hooks);
    await onRun(run.eventId);
    return { ...run, ...(changedTo && { changedTo }) };
  }
}

const isNothingKept = (error: unknown): boolean => error instanceof LlmError && error.code === "no_conversation";
