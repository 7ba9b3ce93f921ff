import { Link } from "@tanstack/react-router";
import { Check, CircleAlert, LoaderCircle, X } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef } from "react";
import { useSession } from "../../../state/session-context.ts";
import { duration, money } from "../../../text/format.ts";
import { useFold } from "../fold-state.tsx";
import type { Row } from "../rows.ts";
import { SubagentMessages } from "../subtask-row.tsx";
import type { WorkflowAgent } from "./agents-by-phase.ts";

const STATES = {
  running: ["Running", "text-accent animate-spin", LoaderCircle],
  waiting: ["Needs you", "text-wait", CircleAlert],
  ended: ["Ended", "text-ink-faint", Check],
  failed: ["Failed", "text-bad", X],
} as const;

/** One agent of a workflow run. Its messages are loaded when it is opened. */
export const WorkflowAgentRow = memo(function WorkflowAgentRow({
  agent,
  now,
  isLinked,
  isTabStop,
  onFocus,
  renderRow,
}: {
  agent: WorkflowAgent;
  now: number;
  /** The page's address names this agent. */
  isLinked: boolean;
  isTabStop: boolean;
  onFocus: (thread: string) => void;
  renderRow: (row: Row) => ReactNode;
}) {
  const { thread, label, state, error, started_at: start, ended_at: end, usd } = agent;
  const session = useSession();
  const [isOpen, toggle] = useFold(thread, isLinked);
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isLinked) item.current?.scrollIntoView({ block: "center" });
  }, [isLinked]);
  const [words, look, Icon] = STATES[state];
  const until = end === null ? now : Date.parse(end);
  const ms = start === null || until === 0 ? undefined : Math.max(0, until - Date.parse(start));
  return (
    <li ref={item}>
      <button
        type="button"
        data-agent
        tabIndex={isTabStop ? 0 : -1}
        aria-expanded={isOpen}
        onClick={toggle}
        onFocus={() => onFocus(thread)}
        onKeyDown={moveFocus}
        className="flex min-h-6 w-full items-baseline gap-2 rounded px-2 py-0.5 text-left -outline-offset-2 hover:bg-raised max-md:min-h-10 max-md:items-center"
      >
        <Icon aria-hidden className={`size-3.5 shrink-0 self-center ${look}`} />
        <span className="sr-only">{words}: </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate">{label}</span>
          {error !== null && <span className="line-clamp-2 text-xs wrap-anywhere text-bad">{error}</span>}
        </span>
        <span className="shrink-0 text-xs text-ink-faint tabular-nums">
          {[ms !== undefined && duration(ms), usd !== null && money(usd)].filter(Boolean).join(" · ")}
        </span>
      </button>
      {isOpen && (
        <div className="ml-3.5 border-l-2 border-line px-4 pb-2">
          <Link
            to="/sessions/$session"
            params={{ session: session.id }}
            search={{ part: thread }}
            className="text-xs text-accent hover:underline"
          >
            Link to this agent
          </Link>
          <SubagentMessages thread={thread} isRunning={state === "running"} answer="" renderRow={renderRow} />
        </div>
      )}
    </li>
  );
});

/** Arrow keys, Home and End move between the agents. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>): void {
  if (event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return;
  const list = event.currentTarget.closest("[data-agents]");
  const agents = [...(list?.querySelectorAll<HTMLElement>("[data-agent]") ?? [])];
  const at = agents.indexOf(event.currentTarget);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: agents.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  agents[next]?.focus();
}
