import { randomUUID } from "node:crypto";
import { availableParallelism, homedir } from "node:os";
import type { Conversation, ConversationOutput, ConversationSetup } from "@tandem/claude-code";
import { LlmError, RequestError, type EventOf, type SessionEventBody, type ThreadId } from "@tandem/protocol";
import type { Lease, Store } from "@tandem/storage";
import { approvalNote } from "../approvals/approval-note.ts";
import type { Grants } from "../approvals/grants.ts";
import { judgeCall } from "@tandem/policy";
import type { Rules } from "../rules/rules.ts";
import { plansFolder } from "./plans-folder.ts";
import { createHost } from "./conversation-host.ts";
import { conversationSetup } from "./conversation-setup.ts";
import type { ProcessSettings } from "./process-settings.ts";
import { openProcessSetup } from "./process-setup.ts";
import type { ToolDefinitions } from "../mcp/tool-definitions.ts";
import { redactOutput } from "../log/redact-output.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { StartGate } from "./start-gate.ts";
import { transcriptStore } from "./transcript-store.ts";
import { modelEvent, turnOptions } from "./turn-options.ts";
import type { PendingApprovals } from "../approvals/pending-approvals.ts";

/** Of all engines of this process. */
const STARTS = new StartGate(availableParallelism());

interface Parts {
  store: Store;
  settings: ProcessSettings;
  lease: Lease;
  writer: SessionWriter;
  room: PendingApprovals;
  grants: Grants;
  rules: Rules;
  definitions: ToolDefinitions;
  onOutput: (output: ConversationOutput) => void;
}

/** The process that carries a session's conversation, while there is one. What a former one still says is not heard. */
export class ConversationHolder {
  readonly #parts: Parts;
  #current: Conversation | undefined;
  #opening: Promise<Conversation> | undefined;
  #closings = 0;
  /** What the last process was given beside its agent is gone too. */
  #released: Promise<void> = Promise.resolve();
  /** What the log was last told that turns run on. */
  #told = "";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The one that takes messages, be it ready or not. */
  get current(): Conversation | undefined {
    return this.#current?.ended ? undefined : this.#current;
  }

  /**
   * The conversation, ready: the one that is there, or taken up from where its transcript ends, or a new one. With `goOn` it
   * goes on by itself with the turn that a former process left.
   */
  open(goOn?: ConversationSetup["goOn"]): Promise<Conversation> {
    if (this.#opening) return this.#opening;
    if (this.current) return Promise.resolve(this.current);
    this.#opening = this.#takeUp(goOn).finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async close(turn: "ended" | "left" | "lost" = "ended"): Promise<void> {
    const conversation = this.#current;
    this.#current = undefined;
    this.#closings += 1;
    await conversation?.close(turn);
    await this.#released;
  }

  /** Has the turn of a message run on what it asks for. What the log is to be told of that. */
  async adjust(conversation: Conversation, message: EventOf<"user.message">): Promise<SessionEventBody[]> {
    const { settings, writer } = this.#parts;
    const wish = turnOptions(writer.row, settings, message);
    await conversation.adjust(wish);
    const told = JSON.stringify([wish.model, wish.effort]);
    const usual = JSON.stringify([writer.row.agent.model.id, writer.row.agent.model.effort?.type]);
    const before = this.#told || usual;
    this.#told = told;
    return told === before ? [] : [modelEvent(wish, await settings.models())];
  }

  /** The log knows the conversation as soon as it has begun; whether anything of it was kept shows when it is taken up. */
  async #takeUp(goOn: ConversationSetup["goOn"]): Promise<Conversation> {
    // One that is at its end is waited for: there are never two.
    await this.#current?.close();
    const known = this.#parts.writer.row.claudeSession;
    // Empty after a rewind to the beginning: nothing is to be remembered.
    if (!known) return this.#start({ id: randomUUID(), resume: false });
    try {
      return await this.#start({ id: known, resume: true, ...(goOn && { goOn }) });
    } catch (error) {
      if (!isNothingKept(error) || goOn) throw error;
      return this.#start({ id: randomUUID(), resume: false });
    }
  }

  async #start(conversation: Pick<ConversationSetup, "id" | "resume" | "goOn">): Promise<Conversation> {
    const { store, settings, lease, writer, definitions } = this.#parts;
    const { row } = writer;
    const closings = this.#closings;
    await using parts = new AsyncDisposableStack();
    const write = (events: SessionEventBody[]): void => void writer.write(events);
    const around = { definitions, isFirst: row.claudeSession === undefined, write };
    const equipment = parts.use(await openProcessSetup(row, settings, around));
    const setup = await conversationSetup(row, conversation, settings, equipment);
    const transcripts = await transcriptStore(store.transcripts, lease, conversation);
    const book = await this.#parts.rules.bookOf({ id: row.id, agentId: row.agent.id, folder: row.folder });
    using _ = await STARTS.enter();
    if (closings !== this.#closings) throw new RequestError("unavailable", "The session was closed meanwhile.");
    if (equipment.events.length > 0) await writer.write(equipment.events);
    const judges = {
      tools: row.agent.tools,
      toolsOf: (thread: ThreadId) => writer.toolsOf(thread),
      agentOf: (thread: ThreadId) => writer.agentOf(thread),
      hostServers: setup.hostServers ?? [],
      book,
      mode: settings.permissionMode ?? "default",
      plans: plansFolder(setup),
      home: homedir(),
    };
    const host = createHost({
      judge: (call) => equipment.judge(call, judgeCall(call, { ...judges, session: writer.row })),
      note: (call) => approvalNote(call, { row: writer.row, expire: settings.approvals?.expire, book }),
      room: this.#parts.room,
      grants: this.#parts.grants,
      durable: () => writer.durable(),
      onOutput: (output) => {
        if (output.type === "closed") this.#released = owned.disposeAsync();
        if (opened !== this.#current) return;
        if (output.type === "closed") this.#current = undefined;
        if (output.type === "closed" && isNothingKept(output.error)) return;
        this.#parts.onOutput(redactOutput(output, setup.credential));
      },
    });
    const opened = settings.openConversation(setup, { ...host, ...equipment.hooks }, transcripts);
    // From now on it goes with the process.
    const owned = parts.move();
    this.#current = opened;
    try {
      await opened.ready;
    } catch (error) {
      if (this.#current === opened) this.#current = undefined;
      throw error;
    }
    return opened;
  }
}

const isNothingKept = (error: unknown): boolean => error instanceof LlmError && error.code === "no_conversation";
