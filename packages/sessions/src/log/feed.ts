import { isId, type SessionId, type FeedItem, type Clock } from "@tandem/protocol";
import { listAll, type Store } from "@tandem/storage";
import { feedView } from "./session-view.ts";

export type { FeedItem } from "@tandem/protocol";

/** Events that change a session's entry in a list. */
const SHOWN = /^session\.(status_|updated|usage|deleted)/;
/** How often the cost of a running session is updated. */
const COST_MS = 1_000;
/** Debounce for events of other processes. Their notification names only the session. */
const LOOK_MS = 100;
/** Debounce for notifications that name no session: all sessions are compared. */
const LOOK_AT_ALL_MS = 2_000;

interface Follower {
  changed: Set<SessionId>;
  removed: Set<SessionId>;
  /** The last view that was sent, by session. */
  said: Map<string, string>;
  wake: () => void;
}

/** Summaries of all sessions, then of each that changes. A slow follower skips intermediate states, never the last one. */
export class Feed {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  readonly #costing = new Set<SessionId>();
  readonly #grown = new Set<SessionId>();
  #isLooking = false;
  #isLookingAtAll = false;
  #stopListening: (() => void) | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    store.events.onAppend((session, events) => {
      if (events.some(({ event }) => SHOWN.test(event.type))) this.changed(session);
      else if (events.some(({ event }) => event.type === "span.model_request_end")) this.#costs(session);
    });
  }

  #costs(session: SessionId): void {
    if (this.#followers.size === 0 || this.#costing.has(session)) return;
    this.#costing.add(session);
    this.#clock.after(COST_MS, () => {
      this.#costing.delete(session);
      this.changed(session);
    });
  }

  /** Listens to other processes while there is a follower. */
  #hear(): void {
    if (this.#followers.size === 0) {
      this.#stopListening?.();
      this.#stopListening = undefined;
      return;
    }
    this.#stopListening ??= this.#store.events.onGrowth((session, isGone) => {
      if (session === undefined) this.#lookAtAll();
      else if (!isId("session", session)) return;
      else if (isGone) this.removed(session);
      else this.#look(session);
    });
  }

  #look(session: SessionId): void {
    this.#grown.add(session);
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#clock.after(LOOK_MS, () => {
      this.#isLooking = false;
      for (const id of this.#grown) this.changed(id);
      this.#grown.clear();
    });
  }

  #lookAtAll(): void {
    if (this.#isLookingAtAll) return;
    this.#isLookingAtAll = true;
    this.#clock.after(LOOK_AT_ALL_MS, () => {
      this.#isLookingAtAll = false;
      this.#compareAll().catch(() => this.#followers.size > 0 && this.#lookAtAll());
    });
  }

  async #compareAll(): Promise<void> {
    const views = new Map((await this.#snapshot()).map((view) => [view.id, JSON.stringify(view)]));
    for (const follower of this.#followers) {
      // Sessions that are no longer listed were archived or deleted.
      for (const id of new Set([...views.keys(), ...follower.said.keys()])) {
        if (views.get(id) !== follower.said.get(id)) follower.changed.add(id as SessionId);
      }
      if (follower.changed.size > 0) follower.wake();
    }
  }

  changed(session: SessionId): void {
    for (const follower of this.#followers) {
      follower.changed.add(session);
      follower.wake();
    }
  }

  removed(session: SessionId): void {
    for (const follower of this.#followers) {
      follower.changed.delete(session);
      follower.removed.add(session);
      follower.wake();
    }
  }

  async *follow(signal: AbortSignal): AsyncGenerator<FeedItem> {
    let woken = Promise.withResolvers<void>();
    const follower: Follower = { changed: new Set(), removed: new Set(), said: new Map(), wake: () => woken.resolve() };
    this.#followers.add(follower);
    this.#hear();
    signal.addEventListener("abort", follower.wake, { once: true });
    try {
      const sessions = await this.#snapshot();
      for (const view of sessions) follower.said.set(view.id, JSON.stringify(view));
      yield { type: "snapshot", sessions };
      while (!signal.aborted) {
        await woken.promise;
        woken = Promise.withResolvers<void>();
        const { changed, removed } = follower;
        follower.changed = new Set();
        follower.removed = new Set();
        for (const id of removed) if (follower.said.delete(id)) yield { type: "removed", id };
        for (const id of changed) {
          const item = await this.#news(id, follower);
          if (item && !signal.aborted) yield item;
        }
      }
    } finally {
      this.#followers.delete(follower);
      this.#hear();
      signal.removeEventListener("abort", follower.wake);
    }
  }

  /** The current view of a session, unless it was already sent. */
  async #news(id: SessionId, { said }: Follower): Promise<FeedItem | undefined> {
    const row = await this.#store.sessions.get(id);
    if (!row) return said.delete(id) ? { type: "removed", id } : undefined;
    const session = feedView(row);
    const text = JSON.stringify(session);
    if (said.get(id) === text) return undefined;
    said.set(id, text);
    return { type: "changed", session };
  }

  async #snapshot(): Promise<Extract<FeedItem, { type: "snapshot" }>["sessions"]> {
    const rows = [];
    for await (const row of listAll((query) => this.#store.sessions.list(query))) rows.push(feedView(row));
    return rows;
  }
}
