import type { EventId, EventOf } from "@tandem/protocol";
import type { FileStore } from "@tandem/storage";
import type { ConversationHolder } from "../process/conversation-holder.ts";
import { messageUuid } from "./lost-messages.ts";
import { readContent } from "../log/read-content.ts";

type UserMessage = EventOf<"user.message">;

/** Messages that Claude has and the model has not. It takes them within the turn, or in one of their own. */
export class Steering {
  readonly #files: FileStore;
  readonly #messages = new Map<string, UserMessage>();

  constructor(files: FileStore) {
    this.#files = files;
  }

  /** The one that comes next. */
  get first(): UserMessage | undefined {
    const [first] = this.#messages.values();
    return first;
  }

  has(message: EventId): boolean {
    return this.#messages.has(messageUuid(message));
  }

  /** Gives Claude a message in the middle of a turn, if it can be read: one that cannot says so in a turn of its own. */
  async give(message: UserMessage, holder: Pick<ConversationHolder, "current">): Promise<void> {
    const content = await readContent(message.content, this.#files).catch(() => undefined);
    const conversation = holder.current;
    if (!content || !conversation) return;
    const uuid = messageUuid(message.id);
    this.#messages.set(uuid, message);
    conversation.send({ uuid, content });
  }

  /** The model has it now. Undefined if it did not steer. */
  take(uuid: string): UserMessage | undefined {
    const message = this.#messages.get(uuid);
    this.#messages.delete(uuid);
    return message;
  }

  clear(): void {
    this.#messages.clear();
  }
}
