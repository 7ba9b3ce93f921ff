import type { LoggedEvent } from "./session-event.ts";

/** Whether an event of a subagent's thread also appears on the session's stream: approval requests do. */
export function isOnPrimary({ thread, event }: Pick<LoggedEvent, "thread" | "event">): boolean {
  if (thread === null) return true;
  switch (event.type) {
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return event.evaluated_permission === "ask" || event.tandem?.worker === true;
    case "session.thread_created":
    case "session.thread_status_running":
    case "session.thread_status_idle":
    case "session.thread_status_rescheduled":
    case "session.thread_status_terminated":
    case "agent.custom_tool_use":
    case "user.tool_confirmation":
    case "user.custom_tool_result":
    case "user.tool_result":
      return true;
    default:
      return false;
  }
}
