import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { markSeen } from "../home/seen.ts";
import { feed } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";

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
