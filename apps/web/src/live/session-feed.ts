import type { Connection } from "@tandem/client";
import type { FeedItem, FeedSession } from "@tandem/protocol";
import { api } from "../api/client.ts";
import { rest } from "../api/while-seen.ts";
import { LiveValue } from "./live-value.ts";

export type { FeedSession } from "@tandem/protocol";

/** Messages between the tabs of a browser: feed items, the connection state, and the arrival of a new tab. */
type TabMessage = FeedItem | { type: "connection"; state: Connection } | { type: "opened" };

const SHARED = "tandem.feed";

/**
 * The live list of all sessions. One tab holds a lock, reads the feed and broadcasts it to the others, because a
 * browser allows only six connections per server. When that tab closes, the next one gets the lock.
 */
class Feed {
  readonly sessions = new LiveValue<ReadonlyMap<string, FeedSession>>(new Map());
  readonly connection = new LiveValue<Connection>("connecting");
  /** Whether the first snapshot has arrived. Before that, an empty list means "not loaded". */
  readonly isKnown = new LiveValue(false);

  async follow(signal: AbortSignal): Promise<void> {
    // Web Locks need a secure context (HTTPS or localhost). Without them every tab reads the feed itself.
    if (!("locks" in navigator)) return this.#read(signal, () => undefined);
    const others = new BroadcastChannel(SHARED);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches this origin alone
    const broadcast = (message: TabMessage): void => others.postMessage(message);
    others.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => this.#hear(data));
    signal.addEventListener("abort", () => others.close(), { once: true });
    broadcast({ type: "opened" });
    try {
      await navigator.locks.request(SHARED, { signal }, async () => {
        others.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
          if (data.type !== "opened" || !this.isKnown.current) return;
          broadcast({ type: "snapshot", sessions: [...this.sessions.current.values()] });
          broadcast({ type: "connection", state: this.connection.current });
        });
        await this.#read(signal, broadcast);
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #read(signal: AbortSignal, broadcast: (message: TabMessage) => void): Promise<void> {
    const both = (message: TabMessage): void => {
      this.#hear(message);
      if (!signal.aborted) broadcast(message);
    };
    return api.follow("feed.stream", {
      signal,
      rest,
      onConnection: (state) => both({ type: "connection", state }),
      onFrame: ({ data }) => both(data),
    });
  }

  #hear(message: TabMessage): void {
    if (message.type === "connection") this.connection.set(message.state);
    else if (message.type !== "opened") this.#apply(message);
  }

  #apply(item: FeedItem): void {
    if (item.type === "snapshot") {
      this.sessions.set(new Map(item.sessions.map((session) => [session.id, session])));
      this.isKnown.set(true);
      return;
    }
    this.sessions.change((sessions) => {
      const next = new Map(sessions);
      if (item.type === "changed") next.set(item.session.id, item.session);
      else next.delete(item.id);
      return next;
    });
  }
}

export const feed = new Feed();
