import { useEffect, useRef, useState } from "react";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";

/** Announces state changes to screen readers, but never answer texts. */
export function Announcer() {
  const sessions = useLive(feed.sessions);
  const connection = useLive(feed.connection);
  const before = useRef(sessions);
  const [words, setWords] = useState("");

  useEffect(() => {
    const news = [...sessions.values()].flatMap((session) => change(before.current.get(session.id), session));
    before.current = sessions;
    if (news.length > 0) setWords(news.slice(0, 3).join(". "));
  }, [sessions]);

  useEffect(() => {
    if (connection === "lost") setWords("The connection to the server is lost; trying again.");
  }, [connection]);

  return (
    <output aria-live="polite" className="sr-only">
      {words}
    </output>
  );
}

function change(before: FeedSession | undefined, after: FeedSession): string[] {
  if (!before) return [];
  const name = after.title ?? "A session";
  if (after.waiting_for.length > before.waiting_for.length) return [`${name} waits for you`];
  if (before.status === "running" && after.status === "idle" && after.waiting_for.length === 0)
    return [after.cut_short ? `${name} is stuck` : `${name} is done`];
  return [];
}
