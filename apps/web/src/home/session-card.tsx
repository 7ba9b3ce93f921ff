import { Link } from "@tanstack/react-router";
import { Folder, Pin } from "lucide-react";
import type { FeedSession } from "../live/session-feed.ts";
import { listCost } from "../text/format.ts";
import { Countdown } from "../ui/countdown.tsx";
import { StateDot, stateOf } from "../ui/state-dot.tsx";
import { folderName } from "../text/path-labels.ts";
import { OutcomeFacts, OutcomeLine } from "./outcome.tsx";
import { pendingLabel } from "./pending-label.ts";
import { SessionRowMenu } from "./session-row-menu.tsx";
import { TimeAgo } from "../ui/time-ago.tsx";

interface SessionCardProps {
  session: FeedSession;
  isUnread: boolean;
  isPinned: boolean;
}

/** Why the session does not continue by itself. */
const CUT_SHORT: Readonly<Record<NonNullable<FeedSession["cut_short"]>, string>> = {
  retries_exhausted: "stopped after repeated errors",
  budget_reached: "stopped at its budget",
  refusal: "stopped: the model declined",
};

/** A session in progress, with its pending approvals. The link covers the card; the menu is above it. */
export function SessionCard({ session, isUnread, isPinned }: SessionCardProps) {
  const state = stateOf(session);
  const [first, ...others] = session.waiting_for;
  const edge =
    state === "waiting" ? "border-wait-mark bg-wait-soft/40" : "border-line bg-surface hover:border-line-strong";
  return (
    <li data-session={session.id} className={`relative rounded-lg border px-3 py-2.5 ${edge}`}>
      <div className="flex items-center gap-2">
        <StateDot state={state} />
        <SessionLink session={session} isUnread={isUnread} />
        {isPinned && <Pinned />}
        <span className="relative -my-1 -mr-1.5 ml-auto">
          <SessionRowMenu session={session} />
        </span>
      </div>
      {first && (
        <p className="mt-1 truncate text-sm font-medium text-wait">
          {pendingLabel(first)}
          {others.length > 0 && ` and ${others.length} more`}
        </p>
      )}
      {state === "stuck" && session.cut_short && (
        <p className="mt-1 truncate text-sm font-medium text-bad">{CUT_SHORT[session.cut_short]}</p>
      )}
      <OutcomeLine session={session} lines={2} />
      {session.parked && (
        <p className="mt-1 text-sm text-ink-soft">
          continues in <Countdown to={session.parked.resets_at} />
        </p>
      )}
      <Facts session={session} />
    </li>
  );
}

/** One row for an idle session. */
export function SessionRow({ session, isUnread, isPinned }: SessionCardProps) {
  const archived = session.archived_at !== null;
  return (
    <li
      data-session={session.id}
      className="relative flex flex-wrap items-center gap-x-2 px-3 py-1.5 hover:bg-raised/60 max-md:py-2"
    >
      <StateDot state={stateOf(session)} />
      <SessionLink session={session} isUnread={isUnread} />
      {isPinned && <Pinned />}
      <span className="ml-auto hidden w-24 shrink-0 truncate text-sm text-ink-faint lg:block">
        {session.agent.name}
      </span>
      <span className="hidden w-28 shrink-0 truncate text-sm text-ink-faint md:block" title={session.folder}>
        {folderName(session.folder)}
      </span>
      <TimeAgo
        at={session.updated_at}
        className="hidden w-20 shrink-0 truncate text-right text-sm text-ink-faint md:block"
      />
      <span className="hidden w-16 shrink-0 text-right text-sm tabular-nums text-ink-faint md:block">
        {listCost(session.list_cost)}
      </span>
      <span className="relative -my-1 -mr-1.5 max-md:ml-auto">
        <SessionRowMenu session={session} isArchived={archived} />
      </span>
      {session.outcome && (
        <div className="flex min-w-0 basis-full items-baseline gap-x-3 pl-4 max-md:flex-col">
          <div className="min-w-0 md:flex-1">
            <OutcomeLine session={session} />
          </div>
          <div className="flex min-w-0 shrink-0 items-baseline gap-x-3 text-xs text-ink-faint max-md:hidden">
            <OutcomeFacts session={session} />
          </div>
        </div>
      )}
      <div className="basis-full pl-4 md:hidden">
        <Facts session={session} />
      </div>
    </li>
  );
}

function SessionLink({ session, isUnread }: Pick<SessionCardProps, "session" | "isUnread">) {
  return (
    <Link
      to="/sessions/$session"
      params={{ session: session.id }}
      data-session-link
      className={`min-w-0 truncate before:absolute before:inset-0 before:rounded-lg focus-visible:outline-none focus-visible:before:outline-2 focus-visible:before:outline-accent ${isUnread ? "font-semibold text-ink" : "font-medium text-ink"}`}
    >
      {session.title ?? <span className="font-normal text-ink-soft">Untitled</span>}
      {isUnread && (
        <span className="ml-2 inline-block rounded-full bg-accent-soft px-1.5 align-[1px] text-xs font-medium text-accent">
          new
        </span>
      )}
    </Link>
  );
}

const Pinned = () => (
  <>
    <Pin aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
    <span className="sr-only">pinned</span>
  </>
);

function Facts({ session }: Pick<SessionCardProps, "session">) {
  return (
    <div className="mt-0.5 flex items-baseline gap-x-3 text-xs text-ink-faint">
      <span className="truncate">{session.agent.name}</span>
      <OutcomeFacts session={session} />
      {session.folder !== "" && (
        <span className="flex min-w-0 items-baseline gap-1" title={session.folder}>
          <Folder aria-hidden className="size-3 shrink-0 translate-y-0.5" />
          <span className="truncate">{folderName(session.folder)}</span>
        </span>
      )}
      <span className="ml-auto shrink-0 tabular-nums">{listCost(session.list_cost)}</span>
      <TimeAgo at={session.updated_at} className="shrink-0" />
    </div>
  );
}
