import type {
  BetaManagedAgentsEventParams,
  BetaManagedAgentsSessionEvent,
  BetaManagedAgentsStreamSessionEvents,
} from "@anthropic-ai/sdk/resources/beta/sessions/events";

type SdkEvent =
  | BetaManagedAgentsEventParams["type"]
  | BetaManagedAgentsSessionEvent["type"]
  | BetaManagedAgentsStreamSessionEvents["type"];

const SAME = "";

/** How each event of the client differs from Anthropic's. The compiler reports a missing one. */
const EVENTS: Record<SdkEvent, string> = {
  "user.message": "`tandem.delivery` can steer the running turn",
  "user.interrupt":
    "also stops background tasks and workflow runs if only they are left; `tandem.turn_event_id` names a turn",
  "user.tool_confirmation": "`tandem` says who answered, and for how long",
  "user.custom_tool_result": SAME,
  "user.tool_result": "from workers of self-hosted environments only",
  "user.define_outcome": "`tandem.grader`: a program as grader",
  "system.message":
    "weaker: part of the system prompt from the next process on, and a marked element before the next message",
  "agent.message": SAME,
  "agent.thinking": "the text is in `tandem.thinking`",
  "agent.tool_use": "names and inputs are those of Claude Code's tools, except in self-hosted environments",
  "agent.tool_result": SAME,
  "agent.mcp_tool_use": SAME,
  "agent.mcp_tool_result": SAME,
  "agent.custom_tool_use": SAME,
  "agent.thread_message_sent": "not sent for the tasks of agents in workflow runs",
  "agent.thread_message_received": SAME,
  "agent.thread_context_compacted": "figures are in `tandem.compaction`",
  "session.status_running": SAME,
  "session.status_idle": SAME,
  "session.status_rescheduled": SAME,
  "session.status_terminated": SAME,
  "session.error": "`tandem.code` and `tandem.fix`",
  "session.updated": SAME,
  "session.usage": "`tandem` has the cost by model and thread",
  "session.deleted": SAME,
  "session.thread_created": SAME,
  "session.thread_status_running": SAME,
  "session.thread_status_idle": SAME,
  "session.thread_status_rescheduled": SAME,
  "session.thread_status_terminated": SAME,
  "span.model_request_start": SAME,
  "span.model_request_end": "`tandem` has the model and the list price",
  "span.outcome_evaluation_start": SAME,
  "span.outcome_evaluation_ongoing": SAME,
  "span.outcome_evaluation_end": SAME,
  "workflow_run.created": "`phases` have no descriptions",
  "workflow_run.status_running": SAME,
  "workflow_run.status_idle": "never sent: at a limit, the run ends",
  "workflow_run.status_ended": "an interrupt is `stopped`; a limit or a crash is `unknown_error`",
  "workflow_run.error": "`tandem.detail` has the plan's own error",
  "workflow_run.phase_started": "with the phase's first agent; `tandem.name` if the plan did not declare it",
  "workflow_run.phase_ended": SAME,
  event_start: SAME,
  event_delta: "of the primary thread; subagents and agents of workflow runs are not streamed",
};

/** Renders the events of the client. */
export function eventTable(): string {
  const rows = Object.entries(EVENTS).map(([type, note]) => [`\`${type}\``, note === SAME ? "same" : "differs", note]);
  return [["event", "outcome", ""], ["---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
