import { RequestError } from "@tandem/protocol";

/** An event of a session or job. */
export interface Sequenced {
  seq: number;
}

/** Reads events after a sequence number; undefined if the log was deleted. `ended` if the log is complete. */
export type ReadAfter<E extends Sequenced = Sequenced> = (
  after: number,
) => Promise<{ events: E[]; more: boolean; ended?: boolean } | undefined>;

type Step<E> = IteratorResult<E[], undefined>;

/** Buffer limit per consumer; beyond it the buffer is dropped and the log is read again. */
const MAX_HELD = 1_000;
const RETRY_MS = 500;

/**
 * One consumer's position in a log. Committed events are handed to it; after a gap or an overflow it reads from the
 * log. Not a generator, so that a waiting consumer gets events synchronously, before the append resolves.
 */
export class Follower<E extends Sequenced = Sequenced> implements AsyncIterableIterator<E[], undefined> {
  readonly #readAfter: ReadAfter<E>;
  readonly #onEnd: () => void;
  /** Sequence number of the last delivered event. */
  #cursor: number;
  /** Buffered events, in order and without gaps. */
  #held: E[] = [];
  /** The log may contain events that are not buffered. */
  #behind = true;
  #reading = false;
  #begun = false;
  /** The log is complete: no further events will be handed over. */
  #ended = false;
  #state: "open" | "closing" | "closed" = "open";
  #waiting: { resolve(step: Step<E>): void; reject(error: unknown): void } | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(after: number, readAfter: ReadAfter<E>, onEnd: () => void) {
    this.#cursor = after;
    this.#readAfter = readAfter;
    this.#onEnd = onEnd;
  }

  /** Sequence number up to which it needs nothing from the log; undefined while it must read anyway. */
  get reach(): number | undefined {
    return this.#behind || this.#reading ? undefined : (this.#held.at(-1)?.seq ?? this.#cursor);
  }

  next(): Promise<Step<E>> {
    if (this.#waiting) return Promise.reject(new Error("A log is followed one step at a time."));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#serve();
    });
  }

  /** Call with committed events. */
  push(events: readonly E[]): void {
    const last = this.#held.at(-1)?.seq;
    if (last !== undefined && events[0]!.seq !== last + 1) return this.reread();
    // Not with spread: a batch can exceed the maximum number of arguments.
    this.#held = this.#held.concat(events);
    this.#serve();
    if (this.#held.length > MAX_HELD) this.reread();
  }

  /** Events may have been missed: drop the buffer and read the log. */
  reread(): void {
    this.#held = [];
    this.#behind = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#serve();
  }

  /** The session is deleted: delivers the buffer, then ends. */
  finish(): void {
    if (this.#state === "open") this.#state = "closing";
    this.#serve();
  }

  return(): Promise<Step<E>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  stop(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#held = [];
    clearTimeout(this.#retry);
    this.#onEnd();
    this.#give({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #serve(): void {
    if (!this.#waiting) return;
    // Deliver buffered events even during a read: they must not wait for it.
    const events = this.#takeHeld();
    if (events) return this.#give({ done: false, value: events });
    if (this.#reading || this.#retry) return;
    if (this.#state === "open" && this.#behind) return void this.#read();
    if (this.#state === "open" && !this.#ended) return;
    this.stop();
    this.#give({ done: true, value: undefined });
  }

  /** The buffered events, if they directly follow the cursor. */
  #takeHeld(): E[] | undefined {
    if (this.#held[0] && this.#held[0].seq <= this.#cursor) this.#held = this.#held.filter(isAfter(this.#cursor));
    const events = this.#held;
    if (!events[0]) return undefined;
    if (events[0].seq !== this.#cursor + 1) {
      this.#behind = true;
      return undefined;
    }
    this.#held = [];
    this.#cursor = events.at(-1)!.seq;
    return events;
  }

  async #read(): Promise<void> {
    this.#reading = true;
    // Clear before reading: commits from here on are handed over or set it again. Clearing after would lose them.
    this.#behind = false;
    try {
      const part = await this.#readAfter(this.#cursor);
      this.#reading = false;
      this.#begun = true;
      if (!part) return this.finish();
      if (part.more) this.#behind = true;
      if (part.ended) this.#ended = true;
      const last = part.events.at(-1);
      // Keep the events handed over during the read that it did not return.
      if (last) {
        const later = this.#held.filter(isAfter(last.seq));
        const isGapless = later[0] === undefined || later[0].seq === last.seq + 1;
        if (!isGapless) this.#behind = true;
        this.#held = isGapless ? part.events.concat(later) : part.events;
      }
      this.#serve();
    } catch (error) {
      this.#reading = false;
      this.#behind = true;
      this.#failed(error);
    }
  }

  /**
   * A database that goes away later is retried: no event is lost, and the consumer can abort. Without a first success,
   * report the error.
   */
  #failed(error: unknown): void {
    if (this.#state === "closed") return;
    if (this.#begun && error instanceof RequestError && error.code === "unavailable") {
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#serve();
      }, RETRY_MS);
      this.#retry.unref();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.stop();
    waiting?.reject(error);
  }

  #give(step: Step<E>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(step);
  }
}

const isAfter =
  (cursor: number) =>
  ({ seq }: Sequenced): boolean =>
    seq > cursor;
