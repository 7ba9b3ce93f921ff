import type { EventId, SessionEvent } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { isTurnInput } from "../log/outcome-prompt.ts";
import type { SessionWriter } from "../log/session-writer.ts";

/** The events that clients sent to a session and no turn has taken yet. */
export class SessionInput {
  readonly #queue: Store["inputQueue"];
  readonly #writer: SessionWriter;

  constructor(queue: Store["inputQueue"], writer: SessionWriter) {
    this.#queue = queue;
    this.#writer = writer;
  }

  /** The store may still list input that is being moved to the log: taking it twice must be avoided. */
  async list(): Promise<SessionEvent[]> {
    const listed = await this.#queue.list(this.#writer.row.id);
    return listed.filter((event) => !this.#writer.hasTaken(event));
  }

  /** False if the store fails: the next look finds the message. */
  async hasMessage(): Promise<boolean> {
    const waiting = await this.list().catch(() => []);
    return waiting.some(isTurnInput);
  }

  /** Removes a queued message. False if there is none, or it is on its way to the agent. */
  async takeBack(id: string, by: string | undefined, isSent: (message: EventId) => boolean): Promise<boolean> {
    const message = (await this.list()).find((event) => event.id === id && isTurnInput(event));
    if (!message || isSent(message.id)) return false;
    await this.drop([message], by === undefined ? "taken back" : `taken back by ${by}`);
    return true;
  }

  async drop(events: readonly SessionEvent[], reason: string): Promise<void> {
    for (const event of events) {
      await this.#writer.take(event, [{ thread: null, body: { type: "tandem.dropped", event_id: event.id, reason } }]);
    }
  }
}
