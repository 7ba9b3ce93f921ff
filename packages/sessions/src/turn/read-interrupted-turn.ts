import type { EventId, EventOf, LoggedEvent, SessionEvent, ThreadId } from "@tandem/protocol";
import type { EventLog, SessionRow } from "@tandem/storage";
import { openGrants } from "../approvals/grants.ts";
import { announcedCalls, openCalls, readOpenTurn, waitingCalls, type OpenCall } from "../log/open-turn.ts";
import { isAnswer } from "../approvals/pending-calls.ts";
import type { InheritedRequests } from "../approvals/approval-requests.ts";

/** The state of a turn whose writer died or gave it up, as its log shows it. */
export interface InterruptedTurn extends InheritedRequests {
  /** The messages that the turn has taken. */
  messages: EventId[];
  /** No call was made since the last late answer, so sending the answers again cannot repeat a call. */
  isUntold: boolean;
  /** Requests that died with their process. */
  cancelled: OpenCall[];
  /** Calls without a result; their effect is unknown. */
  running: OpenCall[];
  /** The former worker handed the turn over on purpose. */
  isHandedOver: boolean;
  /** How often it has waited for a quota. */
  windows: number;
  /** Model requests that no `session.usage` has counted. */
  uncounted: { thread: ThreadId | null; end: EventOf<"span.model_request_end"> }[];
}

/** Undefined if no turn was open. */
export async function readInterruptedTurn(log: EventLog, row: SessionRow): Promise<InterruptedTurn | undefined> {
  const events = await readOpenTurn(log, row.id);
  const wasRunning = row.status === "running" || row.status === "rescheduling";
  const asked = waitingCalls(events);
  if (!wasRunning && asked.length === 0) return undefined;
  const waiting = wasRunning ? [] : asked;
  const stays = new Set(waiting.map(({ use }) => use.id));
  const counted = events.findLastIndex(({ event }) => event.type === "session.usage");
  return {
    messages: events.flatMap(({ event }) => (event.type === "user.message" ? [event.id] : [])),
    waiting,
    announced: announcedCalls(events),
    answered: answeredCalls(events),
    isUntold: isUntold(events),
    grants: openGrants(events),
    cancelled: wasRunning ? asked : [],
    running: [...openCalls(events).values()].filter(({ use }) => !stays.has(use.id)),
    isHandedOver: events.findLast(({ event }) => isStanding(event.type))?.event.type === "tandem.handover",
    windows: events.filter(({ event }) => event.type === "tandem.parked").length,
    uncounted: events
      .slice(counted + 1)
      .flatMap(({ thread, event }) => (event.type === "span.model_request_end" ? [{ thread, end: event }] : [])),
  };
}

const isStanding = (type: string): boolean => type === "tandem.handover" || type === "session.status_running";

function answeredCalls(events: readonly LoggedEvent[]): InterruptedTurn["answered"] {
  const late = lateAnswers(events);
  const uses = new Map(events.map((logged) => [logged.event.id as string, logged]));
  return events.flatMap(({ event }) => {
    if (!isAnswer(event)) return [];
    const id = event.type === "user.tool_confirmation" ? event.tool_use_id : event.custom_tool_use_id;
    const { thread, event: use } = uses.get(id) ?? {};
    if (thread === undefined || !use || !isUse(use)) return [];
    const isTold = event.type === "user.tool_confirmation" ? !late.has(id) : thread !== null && !late.has(id);
    return isTold ? [] : [{ call: { thread, use }, answer: event }];
  });
}

/** Calls that were answered without a process. */
const lateAnswers = (events: readonly LoggedEvent[]): Set<string> =>
  new Set(
    events.flatMap(({ event }) => (event.type === "tandem.approval_resolved" && event.late ? [event.event_id] : [])),
  );

function isUntold(events: readonly LoggedEvent[]): boolean {
  const last = events.findLastIndex(({ event }) => event.type === "tandem.approval_resolved" && event.late);
  return last !== -1 && !events.slice(last).some(({ event }) => isUse(event));
}

const isUse = (event: SessionEvent): event is OpenCall["use"] =>
  event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use" || event.type === "agent.custom_tool_use";
