import { randomUUID } from "node:crypto";
import type { Conversation, ConversationOutput, ConversationSetup } from "@tandem/claude-code";
import { LlmError, RequestError } from "@tandem/protocol";
import type { Lease, Store } from "@tandem/storage";
import { createHost } from "./conversation-host.ts";
import { conversationSetup } from "./conversation-setup.ts";
import type { EngineSettings } from "./engine-settings.ts";
import { redactOutput } from "./redact-output.ts";
import type { SessionWriter } from "./session-writer.ts";
import { transcriptStore } from "./transcript-store.ts";
import type { WaitingRoom } from "./waiting-room.ts";

interface Parts {
  store: Store;
  settings: EngineSettings;
  lease: Lease;
  writer: SessionWriter;
  room: WaitingRoom;
  grants: Set<string>;
  onOutput: (output: ConversationOutput) => void;
}

/** The process that carries a session's conversation, while there is one. What a former one still says is not heard. */
export class ConversationHolder {
  readonly #parts: Parts;
  #current: Conversation | undefined;
  #opening: Promise<Conversation> | undefined;
  #closings = 0;

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

  async close(turn: "ended" | "left" = "ended"): Promise<void> {
    const conversation = this.#current;
    this.#current = undefined;
    this.#closings += 1;
    await conversation?.close(turn);
  }

  /** The log knows the conversation as soon as it has begun; whether anything of it was kept shows when it is taken up. */
  async #takeUp(goOn: ConversationSetup["goOn"]): Promise<Conversation> {
    // One that is at its end is waited for: there are never two.
    await this.#current?.close();
    const known = this.#parts.writer.row.claudeSession;
    if (known === undefined) return this.#start({ id: randomUUID(), resume: false });
    try {
      return await this.#start({ id: known, resume: true, ...(goOn && { goOn }) });
    } catch (error) {
      if (!isNothingKept(error) || goOn) throw error;
      return this.#start({ id: randomUUID(), resume: false });
    }
  }

  async #start(conversation: Pick<ConversationSetup, "id" | "resume" | "goOn">): Promise<Conversation> {
    const { store, settings, lease, writer } = this.#parts;
    const closings = this.#closings;
    const setup = await conversationSetup(writer.row, conversation, settings);
    if (closings !== this.#closings) throw new RequestError("unavailable", "The session was closed meanwhile.");
    const host = createHost({
      tools: writer.row.agent.tools,
      toolsOf: (thread) => writer.toolsOf(thread),
      hostServers: setup.hostServers ?? [],
      room: this.#parts.room,
      grants: this.#parts.grants,
      onOutput: (output) => {
        if (opened !== this.#current) return;
        if (output.type === "closed") this.#current = undefined;
        if (output.type === "closed" && isNothingKept(output.error)) return;
        this.#parts.onOutput(redactOutput(output, setup.credential));
      },
    });
    const opened: Conversation = settings.openConversation(setup, host, transcriptStore(store.transcripts, lease));
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
