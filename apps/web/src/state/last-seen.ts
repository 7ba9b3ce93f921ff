import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { KeptValue } from "../live/kept-value.ts";
import { feed, type FeedSession } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";

interface Seen {
  /** What is older than the first visit is no news. */
  since: string;
  /** When each session was last looked at. */
  at: Readonly<Record<string, string>>;
}

const MOST = 500;

export const seen = new KeptValue<Seen>("tandem.seen", { since: new Date().toISOString(), at: {} });
// The first visit itself is kept, or there would never be any news.
seen.set(seen.current);

export function markSeen({ id, updated_at }: Pick<FeedSession, "id" | "updated_at">): void {
  if ((seen.current.at[id] ?? "") >= updated_at) return;
  seen.change(({ since, at }) => {
    const latest = Object.entries({ ...at, [id]: updated_at }).sort(([, a], [, b]) => b.localeCompare(a));
    return { since, at: Object.fromEntries(latest.slice(0, MOST)) };
  });
}

/** Whether something has come of it that nobody has looked at. While it works, it is not news yet. */
export function isUnread(
  { id, updated_at, status }: Pick<FeedSession, "id" | "updated_at" | "status">,
  { since, at }: Seen,
): boolean {
  return status !== "running" && updated_at > (at[id] ?? since);
}

/** A session that is open, in a window that somebody looks at, is no news. */
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
