import { randomUUID } from "node:crypto";
import type { Conversation, ConversationOutput, ConversationSetup } from "@tandem/claude-code";
import { RequestError } from "@tandem/protocol";
import type { Lease, Store } from "@tandem/storage";
import { createHost } from "./conversation-host.ts";
import { conversationSetup } from "./conversation-setup.ts";
import type { EngineSettings } from "./engine-settings.ts";
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

  get current(): Conversation | undefined {
    return this.#current;
  }

  /**
   * The conversation, ready: the one that is there, or taken up from where its transcript ends, or a new one. With `goOn` it
   * goes on by itself with the turn that a former process left.
   */
  async open(goOn?: ConversationSetup["goOn"]): Promise<Conversation> {
    const conversation =
      this.#current ?? (await (this.#opening ??= this.#start(goOn).finally(() => (this.#opening = undefined))));
    await conversation.ready;
    return conversation;
  }

  /** It has ended by itself. */
  forget(): void {
    this.#current = undefined;
  }

  async close(turn: "ended" | "left" = "ended"): Promise<void> {
    const conversation = this.#current;
    this.#current = undefined;
    this.#closings += 1;
    await conversation?.close(turn);
  }

  async #start(goOn: ConversationSetup["goOn"]): Promise<Conversation> {
    const { store, settings, lease, writer } = this.#parts;
    const { row } = writer;
    const closings = this.#closings;
    const resume = row.claudeSession !== undefined && (await store.transcripts.subpaths(row.id)).length > 0;
    const id = (resume && row.claudeSession) || randomUUID();
    if (goOn && !resume) throw new RequestError("unavailable", "The turn died before anything of it was kept.");
    const setup = await conversationSetup(row, { id, resume, ...(goOn && { goOn }) }, settings);
    if (closings !== this.#closings) throw new RequestError("unavailable", "The session was closed meanwhile.");
    const host = createHost({
      tools: row.agent.tools,
      room: this.#parts.room,
      grants: this.#parts.grants,
      onOutput: (output) => {
        if (conversation === this.#current) this.#parts.onOutput(output);
      },
    });
    const conversation: Conversation = settings.openConversation(
      setup,
      host,
      transcriptStore(store.transcripts, lease),
    );
    this.#current = conversation;
    return conversation;
  }
}
