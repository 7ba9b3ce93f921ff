import type { EventOf, LoggedEvent } from "../events/session-event.ts";
import type { PartOf } from "./message.ts";
import type { Timeline } from "./project-timeline.ts";

type WorkflowPart = PartOf<"workflow">;
type WorkflowAgent = WorkflowPart["agents"][number];

export function beginRun(timeline: Timeline, entry: LoggedEvent, event: EventOf<"workflow_run.created">): void {
  const { workflow_run_id: id, name, phases } = event;
  if (timeline.has(id)) return;
  const pending = phases.map((phase) => ({ id: phase.id, name: phase.name, state: "pending" as const }));
  timeline.addToAgent(entry, { ...unknownRun(id), at: event.processed_at, name, phases: pending });
}

/** Runs without a part are ignored: they began and ended before these events. */
export function changePhase(
  timeline: Timeline,
  event: EventOf<"workflow_run.phase_started" | "workflow_run.phase_ended">,
): void {
  const run = timeline.find("workflow", event.workflow_run_id);
  if (!run) return;
  const id = event.workflow_run_phase_id;
  const state: WorkflowPart["phases"][number]["state"] =
    event.type === "workflow_run.phase_started" ? "running" : "ended";
  const isKnown = run.phases.some((phase) => phase.id === id);
  const name = event.type === "workflow_run.phase_started" ? event.tandem?.name : undefined;
  if (isKnown) {
    timeline.replace({ ...run, phases: run.phases.map((phase) => (phase.id === id ? { ...phase, state } : phase)) });
  } else if (name !== undefined) {
    timeline.replace({ ...run, phases: [...run.phases, { id, name, state }] });
  }
}

export function failRun(
  timeline: Timeline,
  { workflow_run_id: id, error, tandem }: EventOf<"workflow_run.error">,
): void {
  const run = id === null ? undefined : timeline.find("workflow", id);
  if (run) timeline.replace({ ...run, error: [error.message, tandem?.detail].filter(Boolean).join(" ") });
}

export function endRun(timeline: Timeline, event: EventOf<"workflow_run.status_ended">): void {
  const run = timeline.find("workflow", event.workflow_run_id);
  if (!run) return;
  const { result, processed_at: ended_at } = event;
  const isOpen = ({ state }: WorkflowAgent): boolean => state === "running" || state === "waiting";
  timeline.replace({
    ...run,
    state: result.type === "error" ? "failed" : result.type,
    error: result.type === "error" ? (run.error ?? result.error.message) : null,
    ended_at,
    agents: run.agents.map((agent) => (isOpen(agent) ? { ...agent, state: "ended", ended_at } : agent)),
  });
}

export function beginAgent(
  timeline: Timeline,
  entry: LoggedEvent,
  event: EventOf<"session.thread_created">,
  runId: string,
): void {
  const { session_thread_id: thread, agent_name, tandem, processed_at: started_at } = event;
  if (!timeline.has(runId)) timeline.addToAgent(entry, { ...unknownRun(runId), at: started_at });
  const run = timeline.find("workflow", runId);
  if (!run || timeline.runOfThread.has(thread)) return;
  timeline.runOfThread.set(thread, runId);
  const agent: WorkflowAgent = {
    thread,
    label: tandem?.leaf.label ?? agent_name,
    phase: tandem?.leaf.phase_id ?? null,
    state: "running",
    error: null,
    started_at,
    ended_at: null,
    usd: null,
  };
  timeline.replace({ ...run, agents: [...run.agents, agent] });
}

export function changeAgent(
  timeline: Timeline,
  event: EventOf<"session.thread_status_running" | "session.thread_status_idle" | "session.thread_status_terminated">,
): void {
  switch (event.type) {
    case "session.thread_status_running":
      return update(timeline, event.session_thread_id, (agent) => ({
        ...agent,
        state: "running",
        error: null,
        ended_at: null,
      }));
    case "session.thread_status_idle":
      return update(timeline, event.session_thread_id, (agent) => ({
        ...agent,
        ...restOf(event),
        usd: event.tandem?.usd ?? agent.usd,
      }));
    case "session.thread_status_terminated":
      // An archived thread keeps the state that its agent ended with.
      return undefined;
  }
}

export function priceAgents(timeline: Timeline, { tandem }: EventOf<"session.usage">): void {
  const prices = tandem?.by_thread ?? {};
  for (const id of new Set(timeline.runOfThread.values())) {
    const run = timeline.find("workflow", id);
    const isPriced = ({ thread, usd }: WorkflowAgent): boolean => (prices[thread]?.usd ?? usd) === usd;
    if (!run || run.agents.every(isPriced)) continue;
    const agents = run.agents.map((agent) =>
      isPriced(agent) ? agent : { ...agent, usd: prices[agent.thread]?.usd ?? agent.usd },
    );
    timeline.replace({ ...run, agents });
  }
}

function restOf(event: EventOf<"session.thread_status_idle">): Pick<WorkflowAgent, "state" | "error" | "ended_at"> {
  const {
    stop_reason: { type: reason },
    tandem,
    processed_at: ended_at,
  } = event;
  switch (reason) {
    case "requires_action":
      return { state: "waiting", error: null, ended_at: null };
    case "end_turn":
      return { state: "ended", error: null, ended_at };
    default:
      return { state: "failed", error: tandem?.error ?? reason.replaceAll("_", " "), ended_at };
  }
}

function update(timeline: Timeline, thread: string, change: (agent: WorkflowAgent) => WorkflowAgent): void {
  const run = timeline.find("workflow", timeline.runOfThread.get(thread) ?? "");
  if (!run) return;
  const agents = run.agents.map((agent) => (agent.thread === thread ? change(agent) : agent));
  timeline.replace({ ...run, agents });
}

const unknownRun = (id: string): WorkflowPart => ({
  type: "workflow",
  id,
  at: null,
  name: null,
  state: "running",
  error: null,
  ended_at: null,
  phases: [],
  agents: [],
});
