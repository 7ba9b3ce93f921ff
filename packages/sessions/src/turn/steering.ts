import type { EventId, EventOf } from "@tandem/protocol";
import type { FileStore } from "@tandem/storage";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import { messageUuid } from "./lost-messages.ts";
import { readContent } from "../log/read-content.ts";

type UserMessage = EventOf<"user.message">;

/** Messages that Claude Code has received and its model has not read. It reads them in this turn or in a new one. */
export class Steering {
  readonly #files: FileStore;
  readonly #messages = new Map<string, UserMessage>();

  constructor(files: FileStore) {
    this.#files = files;
  }

  get first(): UserMessage | undefined {
    const [first] = this.#messages.values();
    return first;
  }

  has(message: EventId): boolean {
    return this.#messages.has(messageUuid(message));
  }

  /** Sends Claude a message during a turn. One whose files cannot be read stays queued and fails in its own turn. */
  async give(message: UserMessage, holder: Pick<ConversationHolder, "current" | "systemMessages">): Promise<void> {
    const content = await readContent(message.content, this.#files).catch(() => undefined);
    const conversation = holder.current;
    if (!content || !conversation) return;
    const uuid = messageUuid(message.id);
    this.#messages.set(uuid, message);
    conversation.send({ uuid, content: [...holder.systemMessages.take(), ...content] });
  }

  /** The model has read the message. Undefined if it is not a steering message. */
  take(uuid: string): UserMessage | undefined {
    const message = this.#messages.get(uuid);
    this.#messages.delete(uuid);
    return message;
  }

  clear(): void {
    this.#messages.clear();
  }
}
