import type { Delta, EventId, SessionEventBody, ThreadId } from "@tandem/protocol";
import type { ConversationOutput } from "../conversation.ts";

/** Collects the outputs of a message in order. */
export class Emit {
  readonly newEventId: () => EventId;
  #outputs: ConversationOutput[] = [];

  constructor(newEventId: () => EventId) {
    this.newEventId = newEventId;
  }

  event(thread: ThreadId | null, event: SessionEventBody, id = this.newEventId()): EventId {
    this.#outputs.push({ type: "event", thread, id, event });
    return id;
  }

  delta(thread: ThreadId | null, delta: Delta): void {
    this.#outputs.push({ type: "delta", thread, delta });
  }

  put(output: ConversationOutput): void {
    this.#outputs.push(output);
  }

  take(): ConversationOutput[] {
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }
}
