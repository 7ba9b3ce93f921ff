import { endOfPreviews, type LiveDelta, type LoggedEvent } from "@tandem/protocol";

export interface PreviewBatch {
  /** The event that they come after. */
  after: number;
  deltas: readonly LiveDelta[];
}

/** Much more than comes while a preview is on its way. */
const REMEMBERED = 2_000;

/**
 * Brings previews and events into one order that come by two ways. A preview waits until the events before it have been
 * seen here; and it is too late for it once its own event has, or one that says that it will not come.
 */
export class PreviewGate {
  #seq: number;
  #seen: LoggedEvent[] = [];
  #waiting: PreviewBatch[] = [];

  constructor(seq: number) {
    this.#seq = seq;
  }

  get seq(): number {
    return this.#seq;
  }

  /** These events have been seen here. */
  pass(events: readonly LoggedEvent[]): void {
    this.#seq = Math.max(this.#seq, events.at(-1)?.seq ?? 0);
    this.#seen = this.#seen.concat(events).slice(-REMEMBERED);
  }

  arrive(batch: PreviewBatch): void {
    this.#waiting.push(batch);
  }

  /** What can be shown now, in the order in which it came. */
  take(): LiveDelta[] {
    const first = this.#waiting.findIndex(({ after }) => after > this.#seq);
    const ready = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first);
    return ready.flatMap((batch) => this.#current(batch));
  }

  /** Who said so is not heard any more. */
  clear(): void {
    this.#waiting = [];
  }

  #current({ after, deltas }: PreviewBatch): LiveDelta[] {
    const since = this.#seen.filter(({ seq }) => seq > after);
    if (since.length === 0) return [...deltas];
    const facts = new Set<string>(since.map(({ event }) => event.id));
    const ends = since.map(endOfPreviews).filter((end) => end !== undefined);
    return deltas.filter(
      (live) => !facts.has(eventOf(live)) && !ends.some((end) => end === "all" || end.thread === live.thread),
    );
  }
}

export const eventOf = ({ delta }: LiveDelta): string =>
  delta.type === "event_start" ? delta.event.id : delta.event_id;
