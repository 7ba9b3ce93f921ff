import { Link, useNavigate } from "@tanstack/react-router";
import { Folder } from "lucide-react";
import { folderName } from "../../text/path-labels.ts";
import { feed, type FeedSession } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import type { LiveLog } from "../../live/live-log.ts";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { type SessionState, STATE_WORDS, StateDot, stateOf } from "../../ui/state-dot.tsx";
import { UsageGauges } from "./usage-gauges.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { SessionTitle } from "./session-title.tsx";
import { SESSION_VIEWS, type SessionView } from "../session-views.ts";

const VIEW_WORDS: Readonly<Record<SessionView, string>> = { talk: "Chat", changes: "Changes", history: "History" };

const HEADER_LOOKS: Partial<Record<SessionState, string>> = { waiting: "text-wait", stuck: "text-bad" };

/** Title, state, usage and view tabs of a session. */
export function SessionHeader({
  id,
  session,
  log,
  view,
}: {
  id: string;
  session: FeedSession | undefined;
  log: LiveLog;
  view: SessionView;
}) {
  const connection = useLive(log.connection);
  const isServerThere = useLive(feed.connection) === "live";
  const state = session && stateOf(session);
  const navigate = useNavigate();
  const open = (name: SessionView) => () =>
    void navigate({ to: "/sessions/$session", params: { session: id }, search: name === "talk" ? {} : { view: name } });
  useShortcuts("Session views", {
    "g t": ["Go to chat", open("talk")],
    "g d": ["Go to changes", open("changes")],
    "g y": ["Go to history", open("history")],
  });
  return (
    <header className="border-b border-line bg-surface">
      <div className="flex h-12 items-center gap-2.5 px-4">
        {state && <StateDot state={state} />}
        <SessionTitle session={id} title={session?.title} />
        {state && state !== "idle" && (
          <span className={`shrink-0 text-xs max-md:hidden ${HEADER_LOOKS[state] ?? "text-ink-faint"}`}>
            {STATE_WORDS[state]}
          </span>
        )}
        {session && session.folder !== "" && (
          <span
            className="flex max-w-40 shrink-0 items-center gap-1 text-xs text-ink-faint max-lg:hidden"
            title={session.folder}
          >
            <Folder aria-hidden className="size-3.5 shrink-0" />
            <span className="truncate">{folderName(session.folder)}</span>
          </span>
        )}
        <span className="ml-auto flex min-w-0 shrink-0 items-center gap-1">
          {/* If the whole server is unreachable, the banner reports it. */}
          {connection === "lost" && isServerThere && (
            <span className="text-xs text-bad">Connection lost. Reconnecting …</span>
          )}
          <ViewTabs session={id} view={view} className="max-md:hidden" />
          <UsageGauges session={id} log={log} />
          <SessionMenu session={id} title={session?.title ?? null} />
        </span>
      </div>
      <ViewTabs session={id} view={view} className="px-2 pb-1 md:hidden" />
    </header>
  );
}

function ViewTabs({ session, view, className }: { session: string; view: SessionView; className: string }) {
  return (
    <nav aria-label="Session views" className={`flex gap-0.5 ${className}`}>
      {SESSION_VIEWS.map((name) => (
        <Link
          key={name}
          to="/sessions/$session"
          params={{ session }}
          search={name === "talk" ? {} : { view: name }}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={view === name ? "page" : undefined}
          className="flex min-h-7 items-center rounded-md px-2 text-sm text-ink-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:text-ink max-md:min-h-10 max-md:flex-1 max-md:justify-center"
        >
          {VIEW_WORDS[name]}
        </Link>
      ))}
    </nav>
  );
}
