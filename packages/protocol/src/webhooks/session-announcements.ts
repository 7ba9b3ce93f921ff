import type { SessionEvent } from "../events/session-event.ts";
import type { Announcement } from "./announcement.ts";

/** The announcements for an event of a session's log. */
export function announcementsOf(session: string, event: SessionEvent): Announcement[] {
  const of = (...types: Announcement["type"][]): Announcement[] =>
    types.map((type) => ({ type, id: session, event_id: event.id }));
  const thread = (type: Announcement["type"], id: string): Announcement[] => [
    { type, id: session, session_thread_id: id, event_id: event.id },
  ];
  switch (event.type) {
    case "session.status_running":
      return of("session.status_run_started", "session.running");
    case "session.status_idle":
      switch (event.stop_reason.type) {
        case "requires_action":
          return of("session.status_idled", "session.idled", "session.requires_action");
        case "budget_reached":
          return of("session.status_idled", "session.idled", "session.budget_reached");
        default:
          return of("session.status_idled", "session.idled");
      }
    case "session.status_rescheduled":
      return of("session.status_rescheduled");
    case "session.status_terminated":
      return of("session.status_terminated");
    case "session.updated":
      return of("session.updated");
    case "session.thread_created":
      return thread("session.thread_created", event.session_thread_id);
    case "session.thread_status_idle":
      return thread("session.thread_idled", event.session_thread_id);
    case "session.thread_status_terminated":
      return thread("session.thread_terminated", event.session_thread_id);
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return event.evaluated_permission === "ask" ? approval(session, event.id) : [];
    case "agent.custom_tool_use":
      // Without the note, a client answers it and not a person.
      return event.tandem.approval ? approval(session, event.id) : [];
    case "span.outcome_evaluation_end":
      return of("session.outcome_evaluation_ended");
    default:
      return [];
  }
}

const approval = (session: string, id: string): Announcement[] => [
  { type: "tandem.approval_requested", id: session, approval_id: id, event_id: id },
];
