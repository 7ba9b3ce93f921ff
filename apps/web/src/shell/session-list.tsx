import { Link } from "@tanstack/react-router";
import { feed, type FeedSession } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";
import { StateDot, stateOf } from "../ui/state-dot.tsx";

const SHOWN = 40;

/** The sessions of late, those that wait for somebody first. */
export function SessionList() {
  const sessions = useLive(feed.sessions);
  const shown = [...sessions.values()]
    .filter(({ archived_at }) => archived_at === null)
    .sort((a, b) => urgency(b) - urgency(a) || b.updated_at.localeCompare(a.updated_at))
    .slice(0, SHOWN);
  return (
    <nav aria-label="Sessions" className="min-h-0 flex-1 overflow-y-auto border-t border-line px-2 py-2">
      <ul>
        {shown.map((session) => (
          <li key={session.id}>
            <Link
              to="/sessions/$session"
              params={{ session: session.id }}
              className="flex items-center gap-2 rounded-md px-2 py-1 text-sm text-ink-soft hover:bg-raised data-[status=active]:bg-raised data-[status=active]:text-ink"
            >
              <StateDot state={stateOf(session)} />
              <span className="truncate">{session.title ?? "Untitled"}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const urgency = (session: FeedSession): number =>
  ({ waiting: 2, running: 1, parked: 1, idle: 0, ended: 0 })[stateOf(session)];
