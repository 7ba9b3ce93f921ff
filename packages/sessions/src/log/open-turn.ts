import type {
  EventId,
  EventOf,
  Interruption,
  LoggedEvent,
  SessionEventBody,
  SessionId,
  ThreadId,
} from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";

type UseEvent = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

/** An event without time, with its thread. */
export interface Placed {
  thread: ThreadId | null;
  /** Known already, because other events name it. */
  id?: EventId;
  body: SessionEventBody;
}

export interface OpenCall {
  thread: ThreadId | null;
  use: UseEvent;
  /** A person has allowed it, and a worker runs it. */
  confirmation?: EventOf<"user.tool_confirmation">;
}

const PAGE = 200;

/** The events of a session's last turn, from its first message, if it has not ended. */
export async function readOpenTurn(log: EventLog, session: SessionId): Promise<LoggedEvent[]> {
  const backwards: LoggedEvent[] = [];
  for (let before: number | undefined; ; before = backwards.at(-1)!.seq) {
    const page = await log.read(session, { order: "desc", limit: PAGE, ...(before !== undefined && { before }) });
    const end = page.findIndex(endsTurn);
    backwards.push(...page.slice(0, end === -1 ? undefined : end));
    if (end !== -1 || page.length < PAGE) return backwards.toReversed();
  }
}

const endsTurn = ({ event }: LoggedEvent): boolean =>
  (event.type === "session.status_idle" && event.stop_reason.type !== "requires_action") ||
  event.type === "session.status_terminated";

/** Calls without a result among these events. */
export function openCalls(events: readonly Pick<LoggedEvent, "thread" | "event">[]): Map<EventId, OpenCall> {
  const open = new Map<EventId, OpenCall>();
  for (const { thread, event } of events) track(open, thread, event);
  return open;
}

export function track(
  open: Map<EventId, OpenCall>,
  thread: ThreadId | null,
  event: SessionEventBody & { id: EventId },
): void {
  switch (event.type) {
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      open.set(event.id, { thread, use: event as UseEvent });
      break;
    case "agent.tool_result":
      open.delete(event.tool_use_id);
      break;
    case "agent.mcp_tool_result":
      open.delete(event.mcp_tool_use_id);
      break;
    case "user.custom_tool_result":
      open.delete(event.custom_tool_use_id as EventId);
      break;
    case "user.tool_result":
      open.delete(event.tool_use_id as EventId);
      break;
    default:
  }
}

/** Open calls that need an answer: custom tools, unconfirmed calls, and calls that a worker runs. */
export function waitingCalls(events: readonly LoggedEvent[]): OpenCall[] {
  const confirmed = new Map(
    events.flatMap(({ event }) =>
      event.type === "user.tool_confirmation" ? [[event.tool_use_id, event] as const] : [],
    ),
  );
  return [...openCalls(events).values()].filter(needsAnswer).flatMap((call) => {
    const confirmation = confirmed.get(call.use.id);
    if (!confirmation) return [call];
    return isWorkerCall(call) && confirmation.result === "allow" ? [{ ...call, confirmation }] : [];
  });
}

/** Whether the call needs an answer before it can continue. */
export const needsAnswer = (call: OpenCall): boolean =>
  call.use.type === "agent.custom_tool_use" || call.use.evaluated_permission === "ask" || isWorkerCall(call);

/** Whether a worker of a self-hosted environment runs the call. */
export const isWorkerCall = ({ use }: OpenCall): boolean => use.tandem?.worker === true;

/** The kind of answer that an open call needs next. */
export function expectedAnswer(call: OpenCall): `user.${"tool_confirmation" | "custom_tool_result" | "tool_result"}` {
  const { use, confirmation } = call;
  if (use.type === "agent.custom_tool_use") return "user.custom_tool_result";
  const isAllowed = use.evaluated_permission !== "ask" || confirmation !== undefined;
  return isWorkerCall(call) && isAllowed ? "user.tool_result" : "user.tool_confirmation";
}

/** The calls that the last status event names. */
export function announcedCalls(events: readonly LoggedEvent[]): EventId[] {
  const last = events.findLast(({ event }) => event.type === "session.status_idle")?.event;
  return last?.type === "session.status_idle" && last.stop_reason.type === "requires_action"
    ? last.stop_reason.event_ids
    : [];
}

/** A substitute result for a call without one. */
export const closing = (call: OpenCall, why: Interruption, words: string): Placed =>
  resultOf(call, { content: [{ type: "text", text: words }], is_error: true, tandem: { interrupted: why } });

type Result = Pick<EventOf<"agent.tool_result">, "content" | "is_error" | "tandem">;

export const resultOf = (call: OpenCall, result: Result): Placed => ({
  thread: call.thread,
  body: resultEvent(call, result),
});

function resultEvent(call: OpenCall, result: Result): SessionEventBody {
  const { use } = call;
  switch (use.type) {
    case "agent.tool_use":
      // A worker that reads the log runs every call of its own without a result of this kind.
      if (isWorkerCall(call) && result.tandem?.interrupted)
        return { type: "user.tool_result", tool_use_id: use.id, ...clientResult(result) };
      return { type: "agent.tool_result", tool_use_id: use.id, ...result };
    case "agent.mcp_tool_use":
      return { type: "agent.mcp_tool_result", mcp_tool_use_id: use.id, ...result };
    case "agent.custom_tool_use":
      return { type: "user.custom_tool_result", custom_tool_use_id: use.id, ...clientResult(result) };
  }
}

const clientResult = ({ content, is_error, tandem }: Result) => ({
  ...(content && { content }),
  ...(is_error != null && { is_error }),
  ...(tandem?.interrupted && { tandem: { interrupted: tandem.interrupted } }),
});
