import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { pendingLabel } from "../home/pending-label.ts";
import { useLive } from "../live/live-value.ts";
import { pageTitle } from "../state/page-title.ts";

/** Shows the number of pending approvals in the tab title, and sends browser notifications if the user enabled them. */
export function ApprovalNotifier() {
  const sessions = useLive(feed.sessions);
  const isKnown = useLive(feed.isKnown);
  const title = useLive(pageTitle);
  const navigate = useNavigate();
  const notified = useRef<Set<string>>(undefined);
  const count = [...sessions.values()].reduce((sum, { waiting_for }) => sum + waiting_for.length, 0);

  useEffect(() => {
    const name = title === undefined ? "Tandem" : `${title} · Tandem`;
    document.title = count > 0 ? `(${count}) ${name}` : name;
  }, [count, title]);

  useEffect(() => {
    if (!isKnown) return;
    const waiting = [...sessions.values()].flatMap((session) =>
      session.waiting_for.map((pending) => ({ id: pending.event_id, words: pendingLabel(pending), session })),
    );
    // Approvals that were pending when the page opened are not new.
    const isNew = ({ id }: { id: string }): boolean => notified.current !== undefined && !notified.current.has(id);
    const news = waiting.filter(isNew);
    notified.current = new Set(waiting.map(({ id }) => id));
    if (document.visibilityState !== "hidden" || !mayNotify()) return;
    for (const { id, words, session } of news.slice(0, 3))
      notify(id, words, session, () => void navigate({ to: "/inbox" }));
  }, [sessions, isKnown, navigate]);
  return null;
}

const mayNotify = (): boolean => "Notification" in globalThis && Notification.permission === "granted";

/** Names the session and the tool, but never the tool's input: the screen may be visible to others. */
function notify(id: string, words: string, session: FeedSession, open: () => void): void {
  const notification = new Notification(session.title ?? "A session", {
    body: `${session.agent.name} ${words}`,
    tag: id,
    icon: "/icon.svg",
  });
  notification.addEventListener("click", () => {
    window.focus();
    open();
    notification.close();
  });
}
