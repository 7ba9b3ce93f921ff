import type { Connection } from "@tandem/client";
import type { FeedItem, FeedSession } from "@tandem/protocol";
import { api } from "../api/client.ts";
import { rest } from "../api/while-seen.ts";
import { LiveValue } from "./live-value.ts";

export type { FeedSession } from "@tandem/protocol";

/** What tabs of one browser say to each other: what has come, how the line stands, and that one has just been opened. */
type Said = FeedItem | { type: "connection"; state: Connection } | { type: "opened" };

const SHARED = "tandem.feed";

/**
 * All sessions, as they are now. There is one for the whole page; and of all tabs of a browser one reads it from the server,
 * since a browser has six lines to a server for all of them. When that tab is closed, the next one reads on.
 */
class Feed {
  readonly sessions = new LiveValue<ReadonlyMap<string, FeedSession>>(new Map());
  readonly connection = new LiveValue<Connection>("connecting");
  /** Whether the first snapshot has come: before that, an empty list means nothing. */
  readonly isKnown = new LiveValue(false);

  async follow(signal: AbortSignal): Promise<void> {
    // Only where the connection is safe, or the server on this machine, can tabs agree on who reads.
    if (!("locks" in navigator)) return this.#read(signal, () => undefined);
    const others = new BroadcastChannel(SHARED);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches this origin alone
    const say = (said: Said): void => others.postMessage(said);
    others.addEventListener("message", ({ data }: MessageEvent<Said>) => this.#hear(data));
    signal.addEventListener("abort", () => others.close(), { once: true });
    say({ type: "opened" });
    try {
      await navigator.locks.request(SHARED, { signal }, async () => {
        others.addEventListener("message", ({ data }: MessageEvent<Said>) => {
          if (data.type !== "opened" || !this.isKnown.current) return;
          say({ type: "snapshot", sessions: [...this.sessions.current.values()] });
          say({ type: "connection", state: this.connection.current });
        });
        await this.#read(signal, say);
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #read(signal: AbortSignal, say: (said: Said) => void): Promise<void> {
    const both = (said: Said): void => {
      this.#hear(said);
      if (!signal.aborted) say(said);
    };
    return api.follow("feed.stream", {
      signal,
      rest,
      onConnection: (state) => both({ type: "connection", state }),
      onFrame: ({ data }) => both(data),
    });
  }

  #hear(said: Said): void {
    if (said.type === "connection") this.connection.set(said.state);
    else if (said.type !== "opened") this.#apply(said);
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
