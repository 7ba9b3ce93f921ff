import { readStream, type Connection } from "../api/read-stream.ts";
import { LiveValue } from "./live-value.ts";

/** A session in short, as `/v1/feed` tells it. */
export interface FeedSession {
  id: string;
  title: string | null;
  status: "idle" | "running" | "rescheduling" | "terminated";
  agent: { id: string; name: string };
  environment_id: string;
  folder: string;
  waiting_for: { event_id: string; type: "tool_confirmation" | "custom_tool_result"; name: string }[];
  list_cost: { amount: string; currency: string };
  /** Why its last turn came to no good end, where it did not. */
  cut_short: "retries_exhausted" | "budget_reached" | "refusal" | null;
  /** Where a quota is used up: when it is there again. */
  parked: { resets_at: string; kind: string } | null;
  created_at: string;
  updated_at: string;
  archived_at: string | null;
}

type FeedItem =
  | { type: "snapshot"; sessions: FeedSession[] }
  | { type: "changed"; session: FeedSession }
  | { type: "removed"; id: string };

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
    return readStream("/v1/feed", {
      signal,
      onConnection: (state) => both({ type: "connection", state }),
      onFrame: ({ data }) => both(data as FeedItem),
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
