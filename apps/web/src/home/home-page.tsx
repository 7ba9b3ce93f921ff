import { Link } from "@tanstack/react-router";
import { feed, type FeedSession } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";
import { ago, exactly, listCost } from "../text/format.ts";
import { type SessionState, STATE_WORDS, StateDot, stateOf } from "../ui/state-dot.tsx";

const COLUMNS: readonly SessionState[] = ["waiting", "running", "parked", "idle"];

/** All sessions by what they are doing. */
export function HomePage() {
  const sessions = useLive(feed.sessions);
  const isKnown = useLive(feed.isKnown);
  const shown = [...sessions.values()]
    .filter(({ archived_at }) => archived_at === null)
    .sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  const columns = COLUMNS.map((state) => ({ state, sessions: shown.filter((session) => stateOf(session) === state) }));
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center gap-3 border-b border-line px-4 py-2.5">
        <h1 className="text-base font-semibold">Sessions</h1>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        {isKnown && shown.length === 0 && <Nothing />}
        <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
          {columns.map(({ state, sessions: own }) =>
            own.length === 0 ? null : (
              <section key={state} aria-label={STATE_WORDS[state]}>
                <h2 className="mb-2 flex items-center gap-2 text-sm font-medium text-ink-soft">
                  <StateDot state={state} />
                  {STATE_WORDS[state]}
                  <span className="text-ink-faint">{own.length}</span>
                </h2>
                <ul className="space-y-2">
                  {own.map((session) => (
                    <Card key={session.id} session={session} />
                  ))}
                </ul>
              </section>
            ),
          )}
        </div>
      </div>
    </div>
  );
}

function Card({ session }: { session: FeedSession }) {
  const isWaiting = session.waiting_for.length > 0;
  return (
    <li>
      <Link
        to="/sessions/$session"
        params={{ session: session.id }}
        className={`block rounded-lg border bg-surface px-3 py-2 hover:border-line-strong ${isWaiting ? "border-wait" : "border-line"}`}
      >
        <div className="flex items-baseline gap-2">
          <span className="truncate font-medium">{session.title ?? "Untitled"}</span>
          <span className="ml-auto shrink-0 text-xs text-ink-faint">{listCost(session.list_cost)}</span>
        </div>
        <div className="mt-0.5 flex items-baseline gap-2 text-xs text-ink-faint">
          <span className="truncate">{session.agent.name}</span>
          <span className="truncate">{session.folder.split("/").at(-1)}</span>
          <time className="ml-auto shrink-0" dateTime={session.updated_at} title={exactly(session.updated_at)}>
            {ago(session.updated_at)}
          </time>
        </div>
        {isWaiting && (
          <p className="mt-1.5 truncate rounded bg-wait-soft px-1.5 py-0.5 text-xs text-wait">
            {session.waiting_for.map(({ name }) => name).join(", ")}
          </p>
        )}
      </Link>
    </li>
  );
}

function Nothing() {
  return (
    <div className="mx-auto max-w-md py-16 text-center">
      <h2 className="font-semibold">No sessions yet</h2>
      <p className="mt-1 text-ink-soft">A session is one conversation of an agent in a folder of yours.</p>
    </div>
  );
}
