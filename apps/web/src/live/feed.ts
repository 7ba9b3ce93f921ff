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

/** All sessions, as they are now. There is one for the whole page. */
class Feed {
  readonly sessions = new LiveValue<ReadonlyMap<string, FeedSession>>(new Map());
  readonly connection = new LiveValue<Connection>("connecting");
  /** Whether the first snapshot has come: before that, an empty list means nothing. */
  readonly isKnown = new LiveValue(false);

  follow(signal: AbortSignal): Promise<void> {
    return readStream("/v1/feed", {
      signal,
      onConnection: (state) => this.connection.set(state),
      onFrame: ({ data }) => this.#apply(data as FeedItem),
    });
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
