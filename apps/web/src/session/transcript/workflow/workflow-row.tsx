import type { PartOf } from "@tandem/protocol";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { duration, money } from "../../../text/format.ts";
import { plural } from "../../../tool/describe-tool.ts";
import { useNow } from "../../../ui/use-now.ts";
import { useFold } from "../fold-state.tsx";
import type { Row } from "../rows.ts";
import { ToolFrame } from "../tool/tool-frame.tsx";
import { agentsByPhase, costOf, countsOf } from "./agents-by-phase.ts";
import { WorkflowAgentRow } from "./workflow-agent-row.tsx";

const STATES = {
  running: ["Running", "text-accent"],
  completed: ["Completed", "text-ink-faint"],
  stopped: ["Stopped", "text-wait"],
  failed: ["Failed", "text-bad"],
} as const;

const PHASES = { pending: "not started", running: "running", ended: "ended" } as const;

/** A workflow run: its phases, and its agents with their state, cost and failure. */
export function WorkflowRow({ part, renderRow }: { part: PartOf<"workflow">; renderRow: (row: Row) => ReactNode }) {
  const [isOpen, toggle] = useFold(part.id, true);
  const [isFailedOnly, setFailedOnly] = useState(false);
  const { part: linked } = useSearch({ strict: false });
  const [focused, setFocused] = useState<string>();
  const now = useNow(part.state === "running");
  const [label, look] = STATES[part.state];
  const counts = countsOf(part.agents);
  const usd = costOf(part.agents);
  const ms =
    part.at === null ? undefined : (part.ended_at === null ? now : Date.parse(part.ended_at)) - Date.parse(part.at);
  const groups = agentsByPhase(part, isFailedOnly && counts.failed > 0);
  const shown = groups.flatMap(({ agents }) => agents);
  // One tab stop for the whole list, however long it is.
  const stop = shown.some(({ thread }) => thread === focused) ? focused : shown[0]?.thread;
  const summary = [
    plural(part.agents.length, "agent"),
    counts.running > 0 && `${counts.running} running`,
    counts.waiting > 0 && `${counts.waiting} need you`,
    counts.failed > 0 && `${counts.failed} failed`,
    counts.ended > 0 && `${counts.ended} ended`,
    ms !== undefined && ms >= 0 && duration(ms),
  ].filter((text) => text !== false);
  return (
    <ToolFrame
      kind="agent"
      verb="Workflow run"
      subject={<span className="font-sans text-sm">{part.name ?? ""}</span>}
      note={isOpen ? undefined : summary.join(" · ")}
      state={
        <span className="ml-auto shrink-0 pl-2 text-xs text-ink-faint tabular-nums">
          <span className={look}>{label}</span>
          {usd !== undefined && ` · ${money(usd)}`}
        </span>
      }
      isOpen={isOpen}
      onToggle={toggle}
    >
      <div className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5 text-xs text-ink-soft">
        <span className="tabular-nums">{summary.join(" · ")}</span>
        {counts.failed > 0 && counts.failed < part.agents.length && (
          <button
            type="button"
            onClick={() => setFailedOnly(!isFailedOnly)}
            className="ml-auto text-accent hover:underline max-md:min-h-10"
          >
            {isFailedOnly ? "Show all agents" : "Show failed only"}
          </button>
        )}
      </div>
      {part.error !== null && <p className="px-3 pb-1.5 text-sm wrap-anywhere text-bad">{part.error}</p>}
      <div className="relative max-h-96 overflow-y-auto px-1 pb-1.5" data-agents>
        {groups.map(({ phase, agents }) => (
          <section key={phase?.id ?? ""} aria-label={phase ? `Phase ${phase.name}` : "Agents without a phase"}>
            {phase && (
              <h4 className="px-2 pt-2 pb-0.5 text-xs font-medium text-ink-soft">
                {phase.name}
                <span className="font-normal text-ink-faint"> · {PHASES[phase.state]}</span>
              </h4>
            )}
            {agents.length > 0 && (
              <ul>
                {agents.map((agent) => (
                  <WorkflowAgentRow
                    key={agent.thread}
                    agent={agent}
                    now={agent.state === "running" ? now : 0}
                    isLinked={agent.thread === linked}
                    isTabStop={agent.thread === stop}
                    onFocus={setFocused}
                    renderRow={renderRow}
                  />
                ))}
              </ul>
            )}
          </section>
        ))}
      </div>
    </ToolFrame>
  );
}
