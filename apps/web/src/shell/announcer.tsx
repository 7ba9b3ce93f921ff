import { useEffect, useRef, useState } from "react";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { pendingLabel } from "../home/pending-label.ts";
import { pageTitle } from "../state/page-title.ts";

/** Announces pages, approvals and state changes to screen readers, but never answer texts. */
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

  // A page change moves no focus by itself, so screen readers would not notice it.
  const title = useLive(pageTitle);
  useEffect(() => {
    if (title === undefined) return;
    setWords(title);
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }, [title]);

  useEffect(() => {
    if (connection === "lost") setWords("Connection to the server lost. Reconnecting.");
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
  const known = new Set(before.waiting_for.map(({ event_id }) => event_id));
  const pending = after.waiting_for.find(({ event_id }) => !known.has(event_id));
  if (pending) return [`${name} needs you: ${after.agent.name} ${pendingLabel(pending)}`];
  if (before.status === "running" && after.status === "idle" && after.waiting_for.length === 0)
    return [after.cut_short ? `${name} is stuck` : `${name} is done`];
  return [];
}
