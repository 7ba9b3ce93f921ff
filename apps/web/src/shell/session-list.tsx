import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Pin } from "lucide-react";
import { pinnedSessions } from "../state/pinned-sessions.ts";
import { isUnread, seen } from "../state/last-seen.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { StateDot, stateOf } from "../ui/state-dot.tsx";

const SHOWN = 40;

/** Recent sessions: pending first, then running, stuck and pinned ones. */
export function SessionList() {
  const sessions = useLive(feed.sessions);
  const pinned = useLive(pinnedSessions);
  const looked = useLive(seen);
  const urgency = (session: FeedSession): number =>
    ({ waiting: 4, running: 3, parked: 3, stuck: 2, idle: 0, ended: 0 })[stateOf(session)] ||
    Number(pinned.includes(session.id));
  const shown = [...sessions.values()]
    .filter(({ archived_at }) => archived_at === null)
    .sort((a, b) => urgency(b) - urgency(a) || b.updated_at.localeCompare(a.updated_at))
    .slice(0, SHOWN);
  const { session: open } = useParams({ strict: false });
  const navigate = useNavigate();
  const step = (by: 1 | -1) => () => {
    const at = shown.findIndex(({ id }) => id === open);
    const next = shown[at === -1 ? (by === 1 ? 0 : shown.length - 1) : at + by];
    if (next) void navigate({ to: "/sessions/$session", params: { session: next.id }, search: {} });
  };
  useShortcuts("Switch session", {
    "alt+arrowdown": ["Next session in the list", step(1)],
    "alt+arrowup": ["Previous session in the list", step(-1)],
  });
  return (
    <nav aria-label="Sessions" className="min-h-0 flex-1 overflow-y-auto border-t border-line px-2 py-2">
      <ul>
        {shown.map((session) => {
          const unread = isUnread(session, looked);
          return (
            <li key={session.id}>
              <Link
                to="/sessions/$session"
                params={{ session: session.id }}
                className={`flex items-center gap-2 rounded-md px-2 py-1 text-sm hover:bg-raised data-[status=active]:bg-raised data-[status=active]:text-ink ${unread ? "font-medium text-ink" : "text-ink-soft"}`}
              >
                <StateDot state={stateOf(session)} />
                <span className="truncate">{session.title ?? "Untitled"}</span>
                {pinned.includes(session.id) && <Pin aria-hidden className="size-3 shrink-0 text-ink-faint" />}
                {unread && (
                  <span className="ml-auto size-1.5 shrink-0 rounded-full bg-accent">
                    <span className="sr-only"> (new)</span>
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
