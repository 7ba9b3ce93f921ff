import { type LoggedEvent, isoNow, type Clock } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { asCall } from "../approvals/approval-reader.ts";
import { isApproval } from "../approvals/outcome.ts";
import type { NotifyEvent } from "./webhook-settings.ts";

/** A notification. It never contains a tool's input or output; the link leads to them. */
export interface Notification {
  type: NotifyEvent | "test";
  at: string;
  /** One sentence. */
  text: string;
  session_id?: string;
  session_title?: string | null;
  agent_name?: string;
  /** For `approval`: the kind of request and the tool. */
  approval_id?: string;
  kind?: "tool" | "plan" | "question";
  tool?: string;
  /** For `failed`: why the turn stopped. */
  reason?: string;
  link?: string;
}

/** The kind of notification for an event. */
export function notifyEventOf({ event, thread }: LoggedEvent): NotifyEvent | undefined {
  const call = asCall({ event, thread });
  if (call && isApproval(call)) return "approval";
  if (event.type !== "session.status_idle") return undefined;
  switch (event.stop_reason.type) {
    case "requires_action":
      return undefined;
    case "end_turn":
      return "completed";
    default:
      return "failed";
  }
}

export function describe(
  { event, thread }: LoggedEvent,
  row: SessionRow,
  { link, clock }: { link: (path: string) => string | undefined; clock: Clock },
): Notification {
  const call = asCall({ event, thread });
  const name = row.title ?? row.id;
  const base = {
    at: event.processed_at ?? isoNow(clock),
    session_id: row.id,
    session_title: row.title,
    agent_name: row.agent.name,
  };
  const linked = (path: string) => {
    const address = link(path);
    return address === undefined ? {} : { link: address };
  };
  if (call) {
    const kind = call.use.tandem.approval?.kind ?? "tool";
    const asks = {
      tool: `asks to call ${call.use.name}`,
      plan: "has a plan to approve",
      question: "has a question",
    };
    return {
      type: "approval",
      ...base,
      text: `${name}: ${row.agent.name} ${asks[kind]}.`,
      approval_id: event.id,
      kind,
      tool: call.use.name,
      ...linked(`/v1/approvals/${event.id}`),
    };
  }
  const reason = event.type === "session.status_idle" ? event.stop_reason.type : "unknown";
  const isDone = reason === "end_turn";
  return {
    type: isDone ? "completed" : "failed",
    ...base,
    text: isDone ? `${name}: ${row.agent.name} is done.` : `${name}: ${row.agent.name} has stopped (${reason}).`,
    ...(!isDone && { reason }),
    ...linked(`/v1/sessions/${row.id}`),
  };
}
