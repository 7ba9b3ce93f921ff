import { RequestError } from "@tandem/protocol";

/** An event of any log. */
export interface Numbered {
  seq: number;
}

/**
 * What comes after a sequence number, as far as it was read; undefined if the log is not there any more. `ended` if nothing
 * will ever be added to it.
 */
export type ReadOn<E extends Numbered = Numbered> = (
  after: number,
) => Promise<{ events: E[]; more: boolean; ended?: boolean } | undefined>;

type Step<E> = IteratorResult<E[], undefined>;

/** What a consumer may have waiting for it before it is read for from the log again. */
const MOST_HELD = 1_000;
const RETRY_MS = 500;

/**
 * One consumer's way through a log. Committed events are handed to it as they come; where it has missed some, or could
 * not keep up, it reads on from where it is. Not a generator: a consumer that waits gets events in the moment they are
 * handed over, before whoever appended them goes on.
 */
export class Follower<E extends Numbered = Numbered> implements AsyncIterableIterator<E[], undefined> {
  readonly #readOn: ReadOn<E>;
  readonly #onEnd: () => void;
  /** The last one that the consumer has got. */
  #cursor: number;
  /** Handed over and not yet asked for; in order, without gaps among themselves. */
  #held: E[] = [];
  /** There may be more in the log than what is held. */
  #behind = true;
  #reading = false;
  #begun = false;
  /** All that it has not got is in the log. */
  #ended = false;
  #state: "open" | "closing" | "closed" = "open";
  #waiting: { resolve(step: Step<E>): void; reject(error: unknown): void } | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(after: number, readOn: ReadOn<E>, onEnd: () => void) {
    this.#cursor = after;
    this.#readOn = readOn;
    this.#onEnd = onEnd;
  }

  /** Up to where it needs nothing from the log, or undefined while it has to read anyway. */
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

  /** Events that have been committed. */
  hand(events: readonly E[]): void {
    const last = this.#held.at(-1)?.seq;
    if (last !== undefined && events[0]!.seq !== last + 1) return this.look();
    // Not by spreading: a batch may be larger than an argument list.
    this.#held = this.#held.concat(events);
    this.#serve();
    if (this.#held.length > MOST_HELD) this.look();
  }

  /** There may be something that was not handed over. */
  look(): void {
    this.#held = [];
    this.#behind = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#serve();
  }

  /** The session is gone: what is held is still given. */
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
    // Also while it reads: what is handed over is never made to wait for that.
    const events = this.#takeHeld();
    if (events) return this.#give({ done: false, value: events });
    if (this.#reading || this.#retry) return;
    if (this.#state === "open" && this.#behind) return void this.#read();
    if (this.#state === "open" && !this.#ended) return;
    this.stop();
    this.#give({ done: true, value: undefined });
  }

  /** What is held and follows upon what the consumer has. */
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
    // Whatever is committed from here on is handed over, or makes it true again.
    this.#behind = false;
    try {
      const part = await this.#readOn(this.#cursor);
      this.#reading = false;
      this.#begun = true;
      if (!part) return this.finish();
      if (part.more) this.#behind = true;
      if (part.ended) this.#ended = true;
      const last = part.events.at(-1);
      // What was handed over meanwhile comes after, as far as the read did not find it.
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

  /** A database that goes away later is waited for: nothing is lost, and whoever follows has its signal. */
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
  ({ seq }: Numbered): boolean =>
    seq > cursor;
