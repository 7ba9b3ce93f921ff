import type { LiveDelta, LoggedEvent, SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

export type Happening = { type: "event"; logged: LoggedEvent } | { type: "delta"; delta: LiveDelta };

type Streamed = Pick<Sessions, "follow" | "head" | "onDelta">;

/** Previews that wait for a slow client beyond these are not kept: the event itself says it all again. */
const MOST_PREVIEWS = 2_000;

/** A session's events and previews, in order, from a place in its log on. */
export class SessionStream implements AsyncIterable<Happening> {
  readonly #waiting: Happening[] = [];
  readonly #holds = new Set<Promise<unknown>>();
  readonly #signal: AbortSignal;
  #previews = 0;
  #stop: (() => void) | undefined;
  /** Events whose preview has a gap: nothing more of it is shown. */
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

  /** Nothing is handed out until this has settled. */
  holdUntil(promise: Promise<unknown>): void {
    const held = promise.catch(() => undefined).finally(() => this.#holds.delete(held));
    this.#holds.add(held);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Happening> {
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

  /** Previews come once the log has been read up to where it is now: what is being said comes after that. */
  async #follow(sessions: Streamed, id: SessionId, after: number): Promise<void> {
    const head = await sessions.head(id);
    if (after >= head) this.#listen(sessions, id);
    for await (const batch of sessions.follow(id, after, this.#signal)) {
      for (const logged of batch) this.#push({ type: "event", logged });
      if (batch.at(-1)!.seq >= head) this.#listen(sessions, id);
    }
  }

  #listen(sessions: Streamed, id: SessionId): void {
    if (this.#signal.aborted) return;
    this.#stop ??= sessions.onDelta(id, (deltas) => {
      for (const delta of deltas) this.#preview(delta);
    });
  }

  #preview(delta: LiveDelta): void {
    const id = "event_id" in delta.delta ? delta.delta.event_id : delta.delta.event.id;
    if (this.#torn.has(id)) return;
    if (this.#previews >= MOST_PREVIEWS) {
      this.#torn.add(id);
      return;
    }
    this.#previews += 1;
    this.#push({ type: "delta", delta });
  }

  #push(happening: Happening): void {
    this.#waiting.push(happening);
    this.#news.resolve();
  }
}
