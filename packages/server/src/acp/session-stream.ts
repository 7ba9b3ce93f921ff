import type { LiveDelta, LoggedEvent, SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

export type StreamedItem = { type: "event"; logged: LoggedEvent } | { type: "delta"; delta: LiveDelta };

type Streamed = Pick<Sessions, "follow" | "head" | "onDelta">;

/** Limits the previews kept for a slow client; dropping them is safe because the event repeats the text. */
const MAX_PREVIEWS = 2_000;

/** A session's events and previews, in order, from a position in its log. */
export class SessionStream implements AsyncIterable<StreamedItem> {
  readonly #waiting: StreamedItem[] = [];
  readonly #holds = new Set<Promise<unknown>>();
  readonly #signal: AbortSignal;
  #previews = 0;
  #stop: (() => void) | undefined;
  /** Events whose preview has a gap; the rest of the preview is dropped. */
  readonly #torn = new Set<string>();
  #news = Promise.withResolvers<void>();
  #end: { error?: unknown } | undefined;

  constructor(sessions: Streamed, id: SessionId, after: number, signal: AbortSignal) {
    this.#signal = signal;
    const ended = (end: { error?: unknown }): void => {
      this.#stop?.();
      this.#end ??= end;
      this.#news.resolve();
    };
    signal.addEventListener("abort", () => ended({}), { once: true });
    void this.#follow(sessions, id, after).then(
      () => ended({}),
      (error: unknown) => ended({ error }),
    );
  }

  /** Delivers nothing until this promise has settled. */
  holdUntil(promise: Promise<unknown>): void {
    const held = promise.catch(() => undefined).finally(() => this.#holds.delete(held));
    this.#holds.add(held);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<StreamedItem> {
    while (!this.#signal.aborted) {
      await Promise.all(this.#holds);
      const next = this.#waiting.shift();
      if (next) {
        if (next.type === "delta") this.#previews -= 1;
        yield next;
      } else if (this.#end) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      } else {
        await this.#news.promise;
        this.#news = Promise.withResolvers();
      }
    }
  }

  /** Subscribes to previews after reading the log to its end, so that a preview never precedes earlier events. */
  async #follow(sessions: Streamed, id: SessionId, after: number): Promise<void> {
    const head = await sessions.head(id);
    if (after >= head) this.#listen(sessions, id, after);
    for await (const batch of sessions.follow(id, after, this.#signal)) {
      for (const logged of batch) this.#push({ type: "event", logged });
      const { seq } = batch.at(-1)!;
      if (seq >= head) this.#listen(sessions, id, seq);
    }
  }

  #listen(sessions: Streamed, id: SessionId, after: number): void {
    if (this.#signal.aborted) return;
    const hear = (deltas: readonly LiveDelta[]): void => deltas.forEach((delta) => this.#preview(delta));
    this.#stop ??= sessions.onDelta(id, { after, hear });
  }

  #preview(delta: LiveDelta): void {
    const id = "event_id" in delta.delta ? delta.delta.event_id : delta.delta.event.id;
    if (this.#torn.has(id)) return;
    if (this.#previews >= MAX_PREVIEWS) {
      this.#torn.add(id);
      return;
    }
    this.#previews += 1;
    this.#push({ type: "delta", delta });
  }

  #push(item: StreamedItem): void {
    this.#waiting.push(item);
    this.#news.resolve();
  }
}
