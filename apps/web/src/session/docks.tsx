import type { Message, PartOf } from "@tandem/protocol";
import { ChevronDown, ListChecks, LoaderCircle, Square } from "lucide-react";
import { lazy, Suspense } from "react";
import { api } from "../api/client.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive, useLivePart } from "../live/live-value.ts";
import type { LiveLog } from "../live/live-log.ts";
import { duration } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Countdown } from "../ui/countdown.tsx";
import { stateOf } from "../ui/state-dot.tsx";
import { ApprovalById } from "./transcript/inline-approval.tsx";
import { useFold } from "./transcript/fold-state.tsx";
import { StuckDock } from "./stuck-dock.tsx";
import { doneOf, TodoList } from "./transcript/todo-list.tsx";
import { useNow } from "../ui/use-now.ts";
import { useTasks } from "./use-session-data.ts";
import { useChange } from "../api/use-change.ts";

const UndoRewindDock = lazy(() => import("../changes/actions/undo-rewind-dock.tsx"));

/** A pending call of the main agent is always among the last messages. */
const RECENT = 50;

/** Pending approvals, todos and running tasks, visible at any scroll position. */
export function Docks({ session, log, isRunning }: { session: string; log: LiveLog; isRunning: boolean }) {
  return (
    <div className="space-y-1.5 pb-1.5 empty:hidden">
      <SubagentApprovals session={session} log={log} />
      <RewindDock session={session} log={log} />
      <TodoDock log={log} />
      <Tasks session={session} />
      {!isRunning && <StuckDock session={session} log={log} />}
      {isRunning && <RunningTasks log={log} session={session} />}
    </div>
  );
}

/** Pending approvals of subagents. Those of the main agent are shown in the transcript. */
function SubagentApprovals({ session, log }: { session: string; log: LiveLog }) {
  const waiting = useLive(feed.sessions).get(session)?.waiting_for;
  const others = useLivePart(log.messages, (messages) => subagentApprovals(waiting ?? NONE, messages).join(" "));
  if (others === "") return null;
  return others.split(" ").map((id) => (
    <div key={id} className="max-h-[50vh] overflow-y-auto">
      <ApprovalById approvalId={id} />
    </div>
  ));
}

/** Shown until the next message: the last message of the conversation is rewound. */
function RewindDock({ session, log }: { session: string; log: LiveLog }) {
  const isRewound = useLivePart(
    log.messages,
    (messages) => messages.findLast(({ role, thread }) => role !== "session" && thread === null)?.rewound !== undefined,
  );
  if (!isRewound) return null;
  return (
    <Suspense fallback={null}>
      <UndoRewindDock session={session} />
    </Suspense>
  );
}

const NONE: FeedSession["waiting_for"] = [];

function subagentApprovals(waiting: FeedSession["waiting_for"], messages: readonly Message[]): string[] {
  if (waiting.length === 0) return [];
  const shown = new Set(messages.slice(-RECENT).flatMap(({ parts }) => parts.map(({ id }) => id)));
  return waiting.map(({ event_id }) => event_id).filter((id) => !shown.has(id));
}

function TodoDock({ log }: { log: LiveLog }) {
  const [isOpen, toggle] = useFold("dock:todos", false);
  const todos = useLivePart(log.messages, latestTodos);
  if (!todos || todos.every(({ status }) => status === "completed")) return null;
  const current = todos.find(({ status }) => status === "in_progress");
  return (
    <section aria-label="To do" className="rounded-xl border border-line bg-surface text-sm">
      <button
        type="button"
        onClick={toggle}
        aria-expanded={isOpen}
        className="flex min-h-8 w-full items-center gap-2 px-3 text-left max-md:min-h-10"
      >
        <ListChecks aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <span className="shrink-0 text-ink-soft tabular-nums">{doneOf(todos)}</span>
        {!isOpen && <span className="min-w-0 truncate">{current?.active_form ?? current?.content}</span>}
        <ChevronDown
          aria-hidden
          className={`ml-auto size-3.5 shrink-0 text-ink-faint transition-transform ${isOpen ? "" : "rotate-180"}`}
        />
      </button>
      {isOpen && (
        <div className="max-h-60 overflow-y-auto px-3 pb-2">
          <TodoList todos={todos} />
        </div>
      )}
    </section>
  );
}

function latestTodos(messages: readonly Message[]): PartOf<"todo">["todos"] | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { parts, thread } = messages[index]!;
    const part = thread === null ? parts.findLast(({ type }) => type === "todo") : undefined;
    if (part?.type === "todo") return part.todos;
  }
  return undefined;
}

function Tasks({ session }: { session: string }) {
  const running = useTasks(session).filter(({ status }) => /run|pend|progress/.test(status));
  const stop = useChange([`/v1/sessions/${session}/tasks`], (task: string) =>
    api.call("sessions.tasks.stop", { params: { session_id: session, task_id: task } }),
  );
  if (running.length === 0) return null;
  return (
    <section aria-label="Background tasks" className="rounded-xl border border-line bg-surface text-sm">
      <ul className="divide-y divide-line">
        {running.map(({ id, kind, description }) => (
          <li key={id} className="flex items-center gap-2 py-0.5 pr-1 pl-3">
            <LoaderCircle aria-hidden className="size-3.5 shrink-0 animate-spin text-accent" />
            <span className="shrink-0 text-ink-faint">{kind}</span>
            <span className="min-w-0 truncate">{description}</span>
            <Button
              look="quiet"
              size="small"
              className="ml-auto"
              icon={<Square aria-hidden className="size-3 fill-current" />}
              aria-label={`Stop ${description}`}
              onClick={() => stop.mutate(id)}
            >
              Stop
            </Button>
          </li>
        ))}
      </ul>
      {stop.error && <p className="px-3 pb-1.5 text-bad">{stop.error.message}</p>}
    </section>
  );
}

function RunningTasks({ log, session }: { log: LiveLog; session: string }) {
  const now = useNow(true);
  const known = useLive(feed.sessions).get(session);
  const words = known === undefined ? "working" : stateOf(known);
  const since = useLivePart(log.messages, beginOfTurn);
  const lasted = since ? now - Date.parse(since) : 0;
  const queued = useLivePart(log.messages, processWait);
  return (
    <p className="flex items-center gap-2 px-3 text-xs text-ink-faint">
      <span
        aria-hidden
        className={`size-2 animate-pulse rounded-full ${words === "waiting" ? "bg-wait-mark" : "bg-accent"}`}
      />
      {words === "parked" ? "Paused" : words === "waiting" ? "Needs you" : "Working"}
      {known?.parked ? (
        <span className="text-ink-soft">
          Quota used up. Continues in <Countdown to={known.parked.resets_at} />
        </span>
      ) : (
        lasted >= 1_000 && <span className="tabular-nums">{duration(lasted)}</span>
      )}
      {words === "parked" && queued !== undefined && <span className="text-ink-soft">{queued}</span>}
    </p>
  );
}

/** The position of a turn that waits for a free process. */
function processWait(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1)?.parts.at(-1);
  return last?.type === "notice" && last.about === "tandem.process_wait" ? last.text : undefined;
}

function beginOfTurn(messages: readonly Message[]): string | null | undefined {
  const turn = messages.findLast((message) => message.turn !== null)?.turn;
  return messages.findLast(({ id }) => id === turn)?.created_at;
}
