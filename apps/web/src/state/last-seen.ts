import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { StoredValue } from "../live/stored-value.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";

interface Seen {
  /** Sessions older than the first visit are not unread. */
  since: string;
  /** Time of the last view per session. */
  at: Readonly<Record<string, string>>;
}

const MOST = 500;

export const seen = new StoredValue<Seen>("tandem.seen", { since: new Date().toISOString(), at: {} });
// Store the time of the first visit, or it would restart with every page load and nothing would ever be unread.
seen.set(seen.current);

export function markSeen({ id, updated_at }: Pick<FeedSession, "id" | "updated_at">): void {
  if ((seen.current.at[id] ?? "") >= updated_at) return;
  seen.change(({ since, at }) => {
    const latest = Object.entries({ ...at, [id]: updated_at }).sort(([, a], [, b]) => b.localeCompare(a));
    return { since, at: Object.fromEntries(latest.slice(0, MOST)) };
  });
}

/** Whether the session changed since the user last viewed it. A running session is not unread yet. */
export function isUnread(
  { id, updated_at, status }: Pick<FeedSession, "id" | "updated_at" | "status">,
  { since, at }: Seen,
): boolean {
  return status !== "running" && updated_at > (at[id] ?? since);
}

/** Marks the open session as seen while the window is visible. */
export function useMarkSeen(): void {
  const { session: id } = useParams({ strict: false });
  const session = useLive(feed.sessions).get(id ?? "");
  useEffect(() => {
    if (!session) return;
    const mark = (): void => {
      if (document.visibilityState === "visible") markSeen(session);
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [session]);
}
