import type { EventId, EventOf, SessionEvent, SessionEventBody } from "@tandem/protocol";
import type { SessionChange, WaitingFor } from "@tandem/storage";
import { expectedAnswer, isWorkerCall, type OpenCall } from "../log/open-turn.ts";

export type Answer = EventOf<"user.tool_confirmation" | "user.custom_tool_result" | "user.tool_result">;

/**
 * A call that needs an answer from a person or a client.
 * - `unsaved`: its transcript is not stored yet. A crash could make the model forget it, so clients are not asked yet.
 * - `waiting`: it can be answered. A worker's call that a person has allowed waits again, for its result.
 * - `answering`: the answer is being written to the log.
 * - `answered`: the answer is durable; the process that asked has not fetched it.
 * - `held`: a person allowed it, and no process could be started for it. The person can allow it again or dismiss it.
 * - `running`: a person allowed it, and the log says that a process runs it.
 * - `unknown`: its process died while it ran. A person is asked for the outcome.
 */
export type PendingCall =
  | { status: "unsaved" | "waiting"; call: OpenCall }
  | { status: "answering" | "answered" | "held" | "running" | "unknown"; call: OpenCall; answer: Answer };

export interface PendingCalls {
  readonly calls: ReadonlyMap<EventId, PendingCall>;
  /** The calls that the last status event in the log names. */
  readonly announced: readonly EventId[];
}

export type CallEvent =
  | { type: "call.asked"; call: OpenCall; isSaved: boolean }
  | { type: "call.saved"; id: EventId }
  | { type: "call.answering"; id: EventId; answer: Answer }
  | { type: "call.answered"; id: EventId }
  /** The process that asked has its answer, or a new process gets it. An allowed call stays until it has run. */
  | { type: "call.delivered"; id: EventId }
  | { type: "call.held"; id: EventId }
  | { type: "call.started"; id: EventId }
  | { type: "call.unknown"; id: EventId }
  /** The call has its result, or was cancelled. */
  | { type: "call.closed"; id: EventId }
  /** A former writer took this answer and may not have delivered it. */
  | { type: "call.inherited"; call: OpenCall; answer: Answer }
  | { type: "calls.announced"; ids: readonly EventId[] }
  /** The turn has ended, and the log closes every call that was open. */
  | { type: "calls.cleared" };

export const NO_CALLS: PendingCalls = { calls: new Map(), announced: [] };

/** Events about calls that are gone have no effect: a call can end while its answer is on the way. */
export function applyCallEvent(pending: PendingCalls, event: CallEvent): PendingCalls {
  switch (event.type) {
    case "call.asked":
      return set(pending, { status: event.isSaved ? "waiting" : "unsaved", call: event.call });
    case "call.inherited":
      return set(pending, { status: "answered", call: event.call, answer: event.answer });
    case "calls.announced":
      return { ...pending, announced: event.ids };
    case "calls.cleared":
      return NO_CALLS;
    case "call.delivered": {
      const known = pending.calls.get(event.id);
      // A worker's call stays until it has its result.
      if (known?.status === "waiting") return pending;
      return known && "answer" in known && allowsRun(known) ? pending : without(pending, event.id);
    }
    case "call.closed":
      return without(pending, event.id);
    case "call.saved":
    case "call.answering":
    case "call.answered":
    case "call.held":
    case "call.started":
    case "call.unknown": {
      const known = pending.calls.get(event.id);
      const next = known && advance(known, event);
      return next ? set(pending, next) : pending;
    }
  }
}

type Step = Extract<CallEvent, { type: `call.${"saved" | "answering" | "answered" | "held" | "started" | "unknown"}` }>;

function advance(known: PendingCall, event: Step): PendingCall | undefined {
  switch (event.type) {
    case "call.saved":
      return known.status === "unsaved" ? { ...known, status: "waiting" } : undefined;
    case "call.answering":
      return canAnswer(known, event.answer)
        ? { status: "answering", call: known.call, answer: event.answer }
        : undefined;
    case "call.answered": {
      if (known.status !== "answering") return undefined;
      const [call] = handedOverCall(known.call, known.answer);
      return call ? { status: "waiting", call } : { ...known, status: "answered" };
    }
    case "call.held":
      return isAllowed(known) ? { ...known, status: "held" } : undefined;
    case "call.started":
      return isAllowed(known) ? { ...known, status: "running" } : undefined;
    case "call.unknown":
      return known.status === "running" ? { ...known, status: "unknown" } : undefined;
  }
}

/** Whether an answer makes a tool of Claude Code or of an MCP server run. */
export const allowsRun = ({ call, answer }: { call: OpenCall; answer: Answer }): boolean =>
  !isWorkerCall(call) &&
  answer.type === "user.tool_confirmation" &&
  answer.result === "allow" &&
  call.use.type !== "agent.custom_tool_use" &&
  call.use.tandem.approval?.kind !== "plan";

const set = (pending: PendingCalls, call: PendingCall): PendingCalls => ({
  ...pending,
  calls: new Map(pending.calls).set(call.call.use.id, call),
});

function without(pending: PendingCalls, id: EventId): PendingCalls {
  const calls = new Map(pending.calls);
  calls.delete(id);
  return { ...pending, calls };
}

/** Whether a person or client has to do something about a call. */
const isOpen = ({ status }: PendingCall): boolean => status === "unsaved" || status === "waiting" || status === "held";

/** Whether a call is allowed and has not started. */
const isAllowed = (known: PendingCall): known is Extract<PendingCall, { answer: Answer }> =>
  known.status === "answered" && allowsRun(known);

/** An allowed call can still be dismissed until it starts. */
const canAnswer = (known: PendingCall, answer: Answer): boolean =>
  isOpen(known) || (isAllowed(known) && isDismissal(answer));

const isDismissal = (answer: Answer): boolean =>
  answer.type === "user.tool_confirmation" && answer.result === "deny" && answer.tandem?.again === true;

/** Calls that a person or client has to do something about, in the order in which they were asked. */
export const unanswered = ({ calls }: PendingCalls): OpenCall[] => [...calls.values()].flatMap(openCall);

function openCall(known: PendingCall): OpenCall[] {
  if (isOpen(known)) return [known.call];
  // An answer in flight counts: its event is written together with the status.
  return known.status === "answering" ? handedOverCall(known.call, known.answer) : [];
}

/** Calls that a person or client was asked about, and has to do something about. */
export const savedCalls = ({ calls }: PendingCalls): OpenCall[] =>
  [...calls.values()].flatMap((known) => (isOpen(known) && known.status !== "unsaved" ? [known.call] : []));

/** Calls that are allowed and have not started. */
export const allowedCalls = ({ calls }: PendingCalls): OpenCall[] =>
  [...calls.values()].filter(isAllowed).map(({ call }) => call);

/** Calls that a process runs. */
export const runningCalls = ({ calls }: PendingCalls): OpenCall[] =>
  [...calls.values()].flatMap(({ status, call }) => (status === "running" ? [call] : []));

/** Answers that no process has fetched. */
export const undelivered = ({ calls }: PendingCalls): { call: OpenCall; answer: Answer }[] =>
  [...calls.values()].flatMap((each) => (each.status === "answered" ? [{ call: each.call, answer: each.answer }] : []));

/** The call that an answer of this kind belongs to, if it can be answered. */
export function answeredCall({ calls }: PendingCalls, answer: Answer): OpenCall | undefined {
  const known = calls.get(answeredId(answer));
  return known && canAnswer(known, answer) && expectedAnswer(known.call) === answer.type ? known.call : undefined;
}

/** An answer that allows a held call again keeps the input that the first answer changed. */
export function repeatedAnswer({ calls }: PendingCalls, answer: Answer): Answer {
  const known = calls.get(answeredId(answer));
  if (answer.type !== "user.tool_confirmation" || answer.result !== "allow" || known?.status !== "held") return answer;
  const input = known.answer.type === "user.tool_confirmation" ? known.answer.tandem?.input : undefined;
  if (input === undefined || answer.tandem?.input !== undefined) return answer;
  return { ...answer, tandem: { by: "unknown", scope: "once", ...answer.tandem, input } };
}

const isUnsaved = ({ calls }: PendingCalls): boolean => [...calls.values()].some(({ status }) => status === "unsaved");

/** The status event that tells clients which calls wait; undefined if the log says so already, or cannot say it yet. */
export function announcement(pending: PendingCalls): { event: SessionEventBody; ids: EventId[] } | undefined {
  if (isUnsaved(pending)) return undefined;
  const ids = unanswered(pending).map(({ use }) => use.id);
  if (ids.join() === pending.announced.join()) return undefined;
  if (ids.length === 0) return { event: { type: "session.status_running" }, ids };
  return {
    event: {
      type: "session.status_idle",
      stop_reason: { type: "requires_action", event_ids: ids },
      stop_details: null,
    },
    ids,
  };
}

/** Whether calls wait, and the log names exactly these. */
export function isAnnounced(pending: PendingCalls): boolean {
  const ids = unanswered(pending).map(({ use }) => use.id);
  return ids.length > 0 && ids.join() === pending.announced.join();
}

const WAITING_TYPES = {
  "user.tool_confirmation": "tool_confirmation",
  "user.custom_tool_result": "custom_tool_result",
  "user.tool_result": "tool_result",
} as const;

function waitingFor(call: OpenCall): WaitingFor {
  const { use, thread } = call;
  return {
    event_id: use.id,
    type: WAITING_TYPES[expectedAnswer(call)],
    name: use.name,
    ...(thread !== null && { thread }),
  };
}

/** A worker's call that this answer allows: it waits for its result next. */
const handedOverCall = (call: OpenCall, answer: Answer): OpenCall[] =>
  isWorkerCall(call) && answer.type === "user.tool_confirmation" && answer.result === "allow"
    ? [{ ...call, confirmation: answer }]
    : [];

/** The status of a session with these calls. */
export function callStatus(pending: PendingCalls): SessionChange {
  if (isUnsaved(pending)) return { status: "running", waitingFor: [] };
  const asked = unanswered(pending).map(waitingFor);
  // Answers in flight count: their event is written together with this change.
  const allowed = [...pending.calls.values()].flatMap((each) =>
    (each.status === "answering" || each.status === "answered") && allowsRun(each) ? [each.call] : [],
  );
  return {
    status: asked.length === 0 ? "running" : "idle",
    waitingFor: [...asked, ...allowed.map((call): WaitingFor => ({ ...waitingFor(call), allowed: true }))],
  };
}

export const answeredId = (answer: Answer): EventId =>
  (answer.type === "user.custom_tool_result" ? answer.custom_tool_use_id : answer.tool_use_id) as EventId;

export const isAnswer = (event: SessionEvent): event is Answer =>
  event.type === "user.tool_confirmation" ||
  event.type === "user.custom_tool_result" ||
  event.type === "user.tool_result";
