import type { SessionId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { FeedItem } from "./engine.ts";
import { feedView } from "./session-view.ts";

const SNAPSHOT_PAGE = 200;
/** Events that change what a list of sessions shows. */
const SHOWN = /^session\.(status_|updated|usage|deleted)/;
/** What a session costs is said this often while it works. */
const COST_MS = 1_000;

interface Follower {
  changed: Set<SessionId>;
  removed: Set<SessionId>;
  wake: () => void;
}

/** Sessions in short: all of them first, then whatever changes. A follower that lags misses steps, never the last state. */
export class Feed {
  readonly #store: Store;
  readonly #followers = new Set<Follower>();
  readonly #costing = new Set<SessionId>();

  constructor(store: Store) {
    this.#store = store;
    store.events.onAppend((session, events) => {
      if (events.some(({ event }) => SHOWN.test(event.type))) this.changed(session);
      else if (events.some(({ event }) => event.type === "span.model_request_end")) this.#costs(session);
    });
  }

  #costs(session: SessionId): void {
    if (this.#followers.size === 0 || this.#costing.has(session)) return;
    this.#costing.add(session);
    setTimeout(() => {
      this.#costing.delete(session);
      this.changed(session);
    }, COST_MS).unref();
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
    const follower: Follower = { changed: new Set(), removed: new Set(), wake: () => woken.resolve() };
    this.#followers.add(follower);
    signal.addEventListener("abort", follower.wake, { once: true });
    try {
      yield { type: "snapshot", sessions: await this.#snapshot() };
      while (!signal.aborted) {
        await woken.promise;
        woken = Promise.withResolvers<void>();
        const { changed, removed } = follower;
        follower.changed = new Set();
        follower.removed = new Set();
        for (const id of removed) yield { type: "removed", id };
        for (const id of changed) {
          const row = await this.#store.sessions.get(id);
          if (row && !signal.aborted) yield { type: "changed", session: feedView(row) };
        }
      }
    } finally {
      this.#followers.delete(follower);
      signal.removeEventListener("abort", follower.wake);
    }
  }

  async #snapshot(): Promise<Extract<FeedItem, { type: "snapshot" }>["sessions"]> {
    const rows = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.#store.sessions.list({ limit: SNAPSHOT_PAGE, ...(cursor && { cursor }) });
      rows.push(...page.data);
      if (!page.next) return rows.map(feedView);
      cursor = page.next;
    }
  }
}
