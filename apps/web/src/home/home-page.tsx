import { Link, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useRef } from "react";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { openNewSession } from "../state/new-session.ts";
import { usePageTitle } from "../state/page-title.ts";
import { sessionAction } from "../state/open-dialogs.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { STATE_WORDS, StateDot } from "../ui/state-dot.tsx";
import { Archived } from "./archived.tsx";
import { Filters } from "./filters.tsx";
import { matchesFilter, type Group, groupByState } from "./session-filter.ts";
import { pinnedSessions, togglePin } from "../state/pinned-sessions.ts";
import { isUnread, seen } from "../state/last-seen.ts";
import { SessionCard, SessionRow } from "./session-card.tsx";
import { FirstScreen } from "./start/first-screen.tsx";
import { Spend } from "./spend.tsx";

const READING = ["w-24", "h-9", "h-9", "h-9", "h-9"];

/** All sessions grouped by state, those that need the user first. */
export function HomePage() {
  const search = useSearch({ from: "/" });
  const sessions = useLive(feed.sessions);
  const isKnown = useLive(feed.isKnown);
  const pinned = new Set(useLive(pinnedSessions));
  const input = useRef<HTMLInputElement>(null);
  const present = [...sessions.values()].filter(({ archived_at }) => archived_at === null);
  const groups = groupByState(
    present.filter((session) => matchesFilter(session, search)),
    pinned,
  );
  usePageTitle("Sessions");
  useBoardKeys(() => input.current?.focus());
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2">
        <h1 className="text-base font-semibold">Sessions</h1>
        <Button
          look="primary"
          onClick={openNewSession}
          keys="n"
          icon={<Plus aria-hidden className="size-4" />}
          className="order-2 ml-auto md:order-3"
        >
          New session
        </Button>
        <div className="order-3 flex basis-full md:order-2 md:basis-auto md:flex-1">
          <Filters search={search} sessions={present} input={input} />
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="mx-auto grid max-w-7xl items-start gap-4 xl:grid-cols-[minmax(0,1fr)_17rem]">
          <div className="min-w-0 space-y-5">
            {!isKnown && <Skeleton rows={READING} />}
            {isKnown && present.length === 0 && <FirstScreen />}
            {present.length > 0 && groups.length === 0 && (
              <Empty title="No matching sessions">Clear the search or a filter.</Empty>
            )}
            {groups.map((group) => (
              <Section key={group.state} group={group} pinned={pinned} />
            ))}
            {search.archived === true ? (
              <Archived search={search} />
            ) : (
              isKnown && (
                <Link
                  to="/"
                  search={{ ...search, archived: true }}
                  className="inline-block rounded py-1 text-sm text-ink-faint underline-offset-2 hover:text-ink hover:underline"
                >
                  Show archived sessions
                </Link>
              )
            )}
          </div>
          <aside aria-label="Cost" className="xl:sticky xl:top-0">
            <Spend />
          </aside>
        </div>
      </div>
    </div>
  );
}

function Section({ group: { state, sessions }, pinned }: { group: Group; pinned: ReadonlySet<string> }) {
  const looked = useLive(seen);
  const rests = state === "idle" || state === "ended";
  const shown = (session: FeedSession) => ({
    session,
    isUnread: isUnread(session, looked),
    isPinned: pinned.has(session.id),
  });
  return (
    <section aria-labelledby={`state-${state}`}>
      <h2
        id={`state-${state}`}
        className={`mb-2 flex items-center gap-2 text-sm font-medium ${state === "waiting" ? "text-wait" : state === "stuck" ? "text-bad" : "text-ink-soft"}`}
      >
        <StateDot state={state} isSilent />
        {STATE_WORDS[state]}
        <span className="font-normal text-ink-faint">{sessions.length}</span>
      </h2>
      {rests ? (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {sessions.map((session) => (
            <SessionRow key={session.id} {...shown(session)} />
          ))}
        </ul>
      ) : (
        <ul className="grid gap-2 md:grid-cols-2 2xl:grid-cols-3">
          {sessions.map((session) => (
            <SessionCard key={session.id} {...shown(session)} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Arrow-key navigation, and shortcuts for the focused session. */
function useBoardKeys(search: () => void): void {
  const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-session-link]")];
  const move = (by: number): void => {
    const all = links();
    const at = all.findIndex((link) => link === document.activeElement);
    all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  const withFocused = (act: (session: FeedSession) => void) => (): void => {
    const id = document.activeElement?.closest<HTMLElement>("[data-session]")?.dataset["session"];
    const session = id === undefined ? undefined : feed.sessions.current.get(id);
    if (session) act(session);
  };
  useShortcuts("Session list", {
    "/": ["Search sessions", search],
    j: ["Next session", () => move(1)],
    k: ["Previous session", () => move(-1)],
    r: ["Rename session", withFocused((session) => sessionAction.set({ kind: "rename", session }))],
    p: ["Pin or unpin session", withFocused(({ id }) => togglePin(id))],
    e: ["Archive session", withFocused((session) => sessionAction.set({ kind: "archive", session }))],
  });
}
