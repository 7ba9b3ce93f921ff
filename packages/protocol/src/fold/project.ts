import type { Message } from "./message.ts";
import { contentParts } from "./project-content.ts";
import { foldEvent } from "./project-event.ts";
import { Previews } from "./project-previews.ts";
import { Timeline } from "./project-timeline.ts";
import type { EventOf, LiveDelta, LoggedEvent, SessionEvent } from "../events/session-event.ts";

/** What a person sees of these events, and of what waits in the inbox. */
export function project(events: Iterable<LoggedEvent>, waiting: Iterable<SessionEvent> = []): readonly Message[] {
  const projection = new Projection();
  for (const entry of events) projection.apply(entry);
  for (const event of waiting) projection.applyWaiting(event);
  return projection.messages;
}

/**
 * The fold from events to messages, one event at a time. It may begin anywhere in a log: what belongs to something that
 * came before stands as a part of its own, under the id that it would have had. To go further back, fold again from there.
 *
 * The projection changes, the messages and parts that it hands out never do: what did not change stays the same object.
 */
export class Projection {
  readonly #timeline = new Timeline();
  readonly #previews = new Previews();
  readonly #waiting = new Map<string, Message>();
  #view: readonly Message[] | undefined;
  #seq = 0;

  /** In the order of the log. Messages that wait come last; a preview is where its event will be. */
  get messages(): readonly Message[] {
    this.#view ??= [...this.#previews.over(this.#timeline), ...this.#waiting.values()];
    return this.#view;
  }

  /** The sequence number up to which events have been folded. */
  get seq(): number {
    return this.#seq;
  }

  /** Adds the next event. One that was folded already, as after a reconnect, is passed over. */
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

  /** Adds what was put into the inbox and is in no turn yet. */
  applyWaiting(event: SessionEvent): void {
    if (event.type !== "user.message" || this.#timeline.hasMessage(event.id)) return;
    this.#view = undefined;
    this.#waiting.set(event.id, {
      id: event.id,
      role: "user",
      thread: event.session_thread_id ?? null,
      turn: null,
      seq: null,
      created_at: event.processed_at,
      parts: contentParts(event.id, event.content, null),
      delivery: { type: "waiting" },
    });
  }

  /** Adds a live preview. Those of one thread come in order with its events. */
  applyDelta(live: LiveDelta): void {
    this.#view = undefined;
    this.#previews.apply(live, this.#timeline);
  }

  /** False if the message that was dropped is not known. */
  #drop(seq: number, { event_id, reason, processed_at: at }: EventOf<"tandem.dropped">): boolean {
    const waiting = this.#waiting.get(event_id);
    if (waiting) this.#timeline.begin({ ...waiting, seq, created_at: at });
    this.#waiting.delete(event_id);
    return this.#timeline.drop(event_id, reason);
  }
}
