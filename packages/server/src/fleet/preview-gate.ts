import { endOfPreviews, type LiveDelta, type LoggedEvent } from "@tandem/protocol";

export interface PreviewBatch {
  /** The position of the event before them. */
  after: number;
  deltas: readonly LiveDelta[];
}

/** Far more than the events that arrive while a preview is in transit. */
const REMEMBERED = 2_000;

/**
 * Orders previews and events that arrive over two connections. A preview waits until the events before it have arrived.
 * It is dropped once its own event has arrived, or one that abandons it.
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

  /** Records events that have arrived. */
  pass(events: readonly LoggedEvent[]): void {
    this.#seq = Math.max(this.#seq, events.at(-1)?.seq ?? 0);
    this.#seen = this.#seen.concat(events).slice(-REMEMBERED);
  }

  arrive(batch: PreviewBatch): void {
    this.#waiting.push(batch);
  }

  /** The previews that can be shown now, in order. */
  take(): LiveDelta[] {
    const first = this.#waiting.findIndex(({ after }) => after > this.#seq);
    const ready = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first);
    return ready.flatMap((batch) => this.#current(batch));
  }

  /** Drops all previews of a source that disconnected. */
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

const eventOf = ({ delta }: LiveDelta): string => (delta.type === "event_start" ? delta.event.id : delta.event_id);
