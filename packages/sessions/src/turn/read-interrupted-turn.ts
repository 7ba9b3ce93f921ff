import type { EventId, LoggedEvent, SessionEvent, ThreadId } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";
import {
  announcedCalls,
  isWorkerCall,
  openCalls,
  readOpenTurn,
  waitingCalls,
  type OpenCall,
} from "../log/open-turn.ts";
import { answeredCall } from "../approvals/answer-event.ts";
import { grantedCalls, openGrants } from "../approvals/legacy-grants.ts";
import { allowsRun, answeredId, isAnswer } from "../approvals/pending-calls.ts";
import { promptOf } from "../log/outcome-prompt.ts";
import { isRequestEnd, type RequestEnd } from "../log/request-end.ts";
import type { InheritedRequests } from "../approvals/approval-requests.ts";
import { loadTranscripts } from "../process/transcript-store.ts";

/** The state of a turn whose writer died or gave it up, as its log shows it. */
export interface InterruptedTurn extends InheritedRequests {
  /** The messages that the turn has taken. */
  messages: EventId[];
  /** A call may run, or answers came without a process and no model request since: the turn continues in any case. */
  isUntold: boolean;
  /** Requests that died with their process: of subagents, and of calls that the transcript does not contain. */
  cancelled: OpenCall[];
  /** Calls without a result; their effect is unknown. */
  running: OpenCall[];
  /** The former worker handed the turn over on purpose. */
  isHandedOver: boolean;
  /** A client has interrupted it: it must not continue. */
  isStopped: boolean;
  /** How often it has waited for a quota. */
  windows: number;
  /** Model requests that no `session.usage` has counted. */
  uncounted: { thread: ThreadId | null; end: RequestEnd }[];
}

/** Undefined if no turn was open. */
export async function readInterruptedTurn(
  store: Pick<Store, "events" | "transcripts">,
  row: SessionRow,
): Promise<InterruptedTurn | undefined> {
  const events = await readOpenTurn(store.events, row.id);
  const wasRunning = row.status === "running" || row.status === "rescheduling";
  const asked = waitingCalls(events);
  const lost = await lostCalls(store, row, asked, announcedCalls(events));
  const waiting = asked.filter((call) => !lost.includes(call) && (call.thread === null || !wasRunning));
  const answered = [...answeredCalls(events), ...grantedCalls(unstarted(events), events)];
  if (!wasRunning && asked.length === 0 && !answered.some(allowsRun)) return undefined;
  const grants = openGrants(events);
  const started = allowedAnswers(startedCalls(events), events);
  const unknown = started.flatMap(({ call }) => (isSettling(asked, answered, call.use.id) ? [] : [call]));
  const given = [...started, ...answered].map(({ call }) => call);
  const handled = new Set([...asked, ...given].map(({ use }) => use.id));
  const counted = events.findLastIndex(({ event }) => event.type === "session.usage");
  const messages = events.flatMap(({ event }) => (promptOf(event) ? [event.id] : []));
  return {
    messages,
    waiting,
    announced: announcedCalls(events),
    answered,
    isUntold: isUntold(events) || isPromptUnsent(events) || grants.length > 0 || answered.some(allowsRun),
    grants,
    unknown,
    started,
    cancelled: asked.filter((call) => !waiting.includes(call)),
    running: [...openCalls(events).values()].filter(({ use }) => !handled.has(use.id)),
    isHandedOver: events.findLast(({ event }) => isStanding(event.type))?.event.type === "tandem.handover",
    isStopped: isStopped(events, messages),
    windows: events.filter(({ event }) => event.type === "tandem.parked").length,
    uncounted: events
      .slice(counted + 1)
      .flatMap(({ thread, event }) => (isRequestEnd(event) ? [{ thread, end: event }] : [])),
  };
}

/**
 * Calls that no client was asked about and that the transcript does not contain: the process died before Claude Code had
 * written them. They could not run after an answer. The model has forgotten them too, and makes them again.
 */
async function lostCalls(
  { transcripts }: Pick<Store, "transcripts">,
  row: SessionRow,
  asked: readonly OpenCall[],
  announced: readonly EventId[],
): Promise<OpenCall[]> {
  const isUntold = ({ thread, use }: OpenCall): boolean =>
    thread === null && use.tandem.outcome_of === undefined && !announced.includes(use.id);
  const untold = asked.filter(isUntold);
  if (untold.length === 0) return [];
  // Imported lazily: commands that only read sessions start faster without it.
  const { callsIn } = await import("@tandem/claude-code");
  const lines = (await loadTranscripts(transcripts, row.id, row.claudeSession)).get("") ?? [];
  const stored = new Set(lines.flatMap(callsIn).map(({ id }) => id));
  return untold.filter(({ use }) => !stored.has(use.tandem.tool_use_id));
}

/** An interrupt without a name is for the turn that it finds: before the first message it found none. */
function isStopped(events: readonly LoggedEvent[], messages: readonly EventId[]): boolean {
  const begin = events.findIndex(({ event }) => promptOf(event));
  return events.some(({ event }, index) => {
    if (event.type !== "user.interrupt") return false;
    const name = event.tandem?.turn_event_id;
    return name === undefined ? index > begin : messages.some((id) => id === name);
  });
}

const isStanding = (type: string): boolean => type === "tandem.handover" || type === "session.status_running";

/** Whether a person is asked for the outcome of a call, or has answered that without effect yet. */
const isSettling = (asked: readonly OpenCall[], answered: readonly { call: OpenCall }[], id: EventId): boolean =>
  [...asked, ...answered.map(({ call }) => call)].some(({ use }) => use.tandem.outcome_of === id);

/** Open calls whose last logged state is that they run or have run. */
function startedCalls(events: readonly LoggedEvent[]): OpenCall[] {
  const states = new Map(
    events.flatMap(({ event }) => (event.type === "tandem.tool_state" ? [[event.event_id, event.state] as const] : [])),
  );
  const hasStarted = (call: OpenCall): boolean =>
    !isWorkerCall(call) && ["running", "unknown"].includes(states.get(call.use.id) ?? "");
  return [...openCalls(events).values()].filter(hasStarted);
}

/** Calls with the answers that allowed them. */
function allowedAnswers(calls: readonly OpenCall[], events: readonly LoggedEvent[]): InterruptedTurn["answered"] {
  const granted = grantedCalls(calls, events);
  const answers = calls.flatMap((call) => {
    const fits = ({ event }: LoggedEvent): boolean =>
      isAnswer(event) && answeredCall(event) === call.use.id && allowsRun({ call, answer: event });
    const answer = events.findLast(fits)?.event;
    return answer && isAnswer(answer) ? [{ call, answer }] : [];
  });
  return [...answers, ...granted];
}

function unstarted(events: readonly LoggedEvent[]): OpenCall[] {
  const started = new Set(startedCalls(events).map(({ use }) => use.id));
  return [...openCalls(events).values()].filter(({ use }) => !started.has(use.id));
}

/** Answers that may not have reached the model. An allowed call that has started is not among them. */
function answeredCalls(events: readonly LoggedEvent[]): InterruptedTurn["answered"] {
  const late = lateAnswers(events);
  const open = openCalls(events);
  const canStart = new Set(unstarted(events).map(({ use }) => use.id));
  const uses = new Map(events.map((logged) => [logged.event.id as string, logged]));
  return events.flatMap(({ event }) => {
    if (!isAnswer(event)) return [];
    const id = answeredId(event);
    const { thread, event: use } = uses.get(id) ?? {};
    if (thread === undefined || !use || !isUse(use)) return [];
    const given = { call: { thread, use }, answer: event };
    // It waits for its result.
    if (isWorkerCall(given.call) && event.type === "user.tool_confirmation" && event.result === "allow") return [];
    if (allowsRun(given)) return canStart.has(id) ? [given] : [];
    if (use.tandem.outcome_of !== undefined) return open.has(use.tandem.outcome_of) ? [given] : [];
    const isTold = event.type === "user.tool_confirmation" ? !late.has(id) : thread !== null && !late.has(id);
    return isTold ? [] : [given];
  });
}

/** Calls that were answered without a process. */
const lateAnswers = (events: readonly LoggedEvent[]): Set<string> =>
  new Set(
    events.flatMap(({ event }) => (event.type === "tandem.approval_resolved" && event.late ? [event.event_id] : [])),
  );

function isUntold(events: readonly LoggedEvent[]): boolean {
  const last = events.findLastIndex(({ event }) => event.type === "tandem.approval_resolved" && event.late);
  return last !== -1 && !events.slice(last).some(({ event }) => event.type === "span.model_request_start");
}

/** Whether the model never got the outcome or verdict that began the turn. Then the turn has had no effect yet. */
function isPromptUnsent(events: readonly LoggedEvent[]): boolean {
  const last = events.findLastIndex(({ event }) => promptOf(event) !== undefined);
  if (last === -1 || events[last]!.event.type === "user.message") return false;
  return !events.slice(last).some(({ event }) => event.type === "span.model_request_start");
}

const isUse = (event: SessionEvent): event is OpenCall["use"] =>
  event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use" || event.type === "agent.custom_tool_use";
