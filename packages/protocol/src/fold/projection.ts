import type { Message } from "./message.ts";
import { contentParts } from "./project-content.ts";
import { foldEvent } from "./project-event.ts";
import { outcomePart } from "./project-outcomes.ts";
import { Previews } from "./project-previews.ts";
import { Timeline } from "./project-timeline.ts";
import type { LiveDelta } from "../events/delta.ts";
import type { EventOf, LoggedEvent, SessionEvent } from "../events/session-event.ts";

/** Folds these events, and the waiting ones of the input queue, into messages. */
export function project(events: Iterable<LoggedEvent>, waiting: Iterable<SessionEvent> = []): readonly Message[] {
  const projection = new Projection();
  for (const entry of events) projection.apply(entry);
  for (const event of waiting) projection.applyWaiting(event);
  return projection.messages;
}

/**
 * The fold from events to messages, one event at a time. It may start anywhere in a log: events that refer to earlier ones
 * become separate parts under the id that they would have had. To go further back, fold again from there. The projection is
 * mutable; the messages and parts that it returns are not. Unchanged ones keep their identity.
 */
export class Projection {
  readonly #timeline = new Timeline();
  #previews = new Previews();
  readonly #waiting = new Map<string, Message>();
  #view: readonly Message[] | undefined;
  #seq = 0;

  /** In log order. Waiting messages are last; a preview is at the position of its event. */
  get messages(): readonly Message[] {
    this.#view ??= [...this.#previews.over(this.#timeline), ...this.#waiting.values()];
    return this.#view;
  }

  /** The sequence number of the last folded event. */
  get seq(): number {
    return this.#seq;
  }

  /** Folds the next event. Ignores duplicates, as after a reconnect. */
  apply(entry: LoggedEvent): void {
    if (entry.seq <= this.#seq) return;
    this.#seq = entry.seq;
    this.#view = undefined;
    const { event } = entry;
    this.#previews.settle(entry);
    if (event.type === "tandem.dropped" && this.#drop(entry.seq, event)) return;
    this.#waiting.delete(event.id);
    foldEvent(this.#timeline, entry);
  }

  /** Adds a message from the input queue that no turn has taken yet. */
  applyWaiting(event: SessionEvent): void {
    const isInput = event.type === "user.message" || event.type === "user.define_outcome";
    if (!isInput || this.#timeline.hasMessage(event.id)) return;
    this.#view = undefined;
    this.#waiting.set(event.id, {
      id: event.id,
      role: "user",
      thread: event.type === "user.message" ? (event.session_thread_id ?? null) : null,
      turn: null,
      seq: null,
      created_at: null,
      parts: event.type === "user.message" ? contentParts(event.id, event.content, null) : [outcomePart(event, null)],
      delivery: { type: "waiting" },
    });
  }

  /** Adds a live preview. Previews of one thread arrive in order with its events. */
  applyDelta(live: LiveDelta): void {
    this.#view = undefined;
    this.#previews.apply(live, this.#timeline);
  }

  /** Takes over the live previews of a projection of the same log that is folded again from further back. */
  takePreviews(from: Projection): void {
    this.#view = undefined;
    this.#previews = from.#previews;
  }

  /** Returns false if the dropped message is unknown. */
  #drop(seq: number, { event_id, reason, processed_at: at }: EventOf<"tandem.dropped">): boolean {
    const waiting = this.#waiting.get(event_id);
    if (waiting) this.#timeline.begin({ ...waiting, seq, created_at: at });
    this.#waiting.delete(event_id);
    return this.#timeline.drop(event_id, reason);
  }
}
