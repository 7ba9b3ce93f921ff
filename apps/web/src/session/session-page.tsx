import { useParams, useSearch, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useLayoutEffect, useMemo, useState } from "react";
import { LiveLog } from "../live/live-log.ts";
import { NotFound } from "../ui/not-found.tsx";
import { usePageTitle } from "../state/page-title.ts";
import { sessionAction } from "../state/open-dialogs.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { hasHistory } from "./transcript/message-actions.tsx";
import { Composer } from "./composer/composer.tsx";
import { Docks } from "./docks.tsx";
import { FoldStateProvider } from "./transcript/fold-state.tsx";
import { Pickers } from "./pickers.tsx";
import { SessionContext, useSession } from "../state/session-context.ts";
import { SessionHeader } from "./header/session-header.tsx";
import { Timeline } from "./transcript/timeline.tsx";
import { useFreshData, useSessionResource } from "./use-session-data.ts";
import { ApiError } from "../api/client.ts";
import { useEnvironments } from "../api/lists.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { toFeedSession } from "../live/feed-session.ts";

const VIEWS = {
  talk: undefined,
  changes: lazy(() => import("../changes/changes-view.tsx")),
  history: lazy(() => import("../changes/history/history-view.tsx")),
} as const;

export function SessionPage() {
  const { session } = useParams({ from: "/sessions/$session" });
  // The key remounts the page, so that no state leaks from one session into the next.
  return <OpenSession key={session} session={session} />;
}

function OpenSession({ session }: { session: string }) {
  const { part, view = "talk" } = useSearch({ from: "/sessions/$session" });
  const [log] = useState(() => new LiveLog(session, { part }));
  const { session: known, isMissing } = useSessionSummary(session);
  usePageTitle(known?.title);
  // Before the first paint, so that the prefetched page is part of it.
  useLayoutEffect(() => {
    const end = new AbortController();
    void log.follow(end.signal);
    return () => end.abort();
  }, [log]);
  useFreshData(session, log);
  const folder = known?.folder;
  const agent = known?.agent.name;
  const title = known?.title;
  const onScreen = useMemo(() => ({ id: session, folder, agent, title }), [session, folder, agent, title]);
  // A session with a pending approval is in the middle of a turn.
  const isRunning =
    known !== undefined &&
    (known.status === "running" || known.status === "rescheduling" || known.waiting_for.length > 0);
  const isEnded = known?.status === "terminated" || (known?.archived_at ?? null) !== null;
  const View = VIEWS[view];
  if (isMissing) return <NotFound kind="session" />;
  return (
    <SessionContext value={onScreen}>
      <FoldStateProvider>
        <div className="flex h-full min-h-0 flex-col">
          <SessionHeader id={session} session={known} log={log} view={view} />
          {View ? (
            <Suspense fallback={<p className="p-6 text-ink-faint">Loading …</p>}>
              <div className="min-h-0 flex-1">
                <View session={session} />
              </div>
            </Suspense>
          ) : (
            <>
              <ChatShortcuts log={log} />
              <Timeline log={log} isRunning={isRunning} part={part} />
              <div className="mx-auto w-full max-w-[50rem] px-3 pb-3 md:px-5">
                <Docks session={session} log={log} isRunning={isRunning} />
                <Composer session={session} log={log} isRunning={isRunning} isEnded={isEnded}>
                  <Pickers session={session} />
                </Composer>
              </div>
            </>
          )}
        </div>
      </FoldStateProvider>
    </SessionContext>
  );
}

/** Rewind, fork, compare and resend in the chat. Changes and History have the same keys for their own turn. */
function ChatShortcuts({ log }: { log: LiveLog }) {
  const { id, title } = useSession();
  const session = { id, title: title ?? null };
  const navigate = useNavigate();
  const resend = (): void => {
    const message = log.messages.current.findLast((each) => each.role === "user" && hasHistory(each));
    if (message) sessionAction.set({ kind: "resend", session, message });
  };
  useShortcuts("Session", {
    r: ["Rewind", () => sessionAction.set({ kind: "rewind", session })],
    f: ["Fork", () => sessionAction.set({ kind: "fork", session })],
    c: ["Compare with another session", () => void navigate({ to: "/compare", search: { a: id } })],
    "shift+e": ["Edit and resend the last message", resend],
  });
  return null;
}

/** The session from the feed, or an archived one from the API. */
function useSessionSummary(id: string): { session: FeedSession | undefined; isMissing: boolean } {
  const present = useLive(feed.sessions).get(id);
  const { data, error } = useSessionResource(id);
  const environments = useEnvironments(true);
  const isKept = present === undefined && data !== undefined && data.archived_at !== null;
  return {
    session: present ?? (isKept ? toFeedSession(data, environments.data) : undefined),
    isMissing: present === undefined && error instanceof ApiError && error.status === 404,
  };
}
