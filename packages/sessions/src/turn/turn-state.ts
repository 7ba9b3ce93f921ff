import type { TurnEnd } from "@tandem/claude-code";
import type { EventId, SessionEventBody, StopReason } from "@tandem/protocol";
import {
  applyCallEvent,
  isAnnounced,
  NO_CALLS,
  unanswered,
  type CallEvent,
  type PendingCalls,
} from "../approvals/pending-calls.ts";

/** A request to end a turn early. The turn ends when Claude Code confirms it, or at once if no process runs. */
export interface StopRequest {
  /** A client interrupted the turn. */
  isInterrupt: boolean;
  /** A turn hook stopped it, for example because a budget is spent. */
  limit?: { reason: StopReason; events: readonly SessionEventBody[] };
}

/** From the message that begins a turn to its `session.status_idle`. */
export interface Turn {
  /** Tells turns apart across asynchronous steps. */
  readonly id: number;
  /** The messages it has taken; none if Claude began it by itself. */
  readonly messages: readonly EventId[];
  readonly startedAt: number;
  /** How often it has waited for a quota. */
  readonly quotaWaits: number;
  readonly stop?: StopRequest;
}

interface Progress {
  /** Calls that need an answer. They can be open in any state: a subagent in the background asks as well. */
  readonly calls: PendingCalls;
  /** Model requests of the primary thread in flight. While there is one, the model may still add calls. */
  readonly requests: number;
  /** The model has begun the answer to its newest request and not finished it. */
  readonly isAnswering: boolean;
  /** Every call has its result and the model has not answered since: the turn can be handed over without loss. */
  readonly isBetweenSteps: boolean;
}

/**
 * The state of a session's turn:
 * - `idle`: no turn.
 * - `starting`: a process is being prepared, or does not have its prompt yet.
 * - `running`: Claude works, or waits for answers to calls.
 * - `waiting`: the process was released; the turn resumes when its last call is answered.
 * - `quotaWait`: the process was released; the turn resumes when the quota resets.
 * - `settling`: Claude has reported the end of its turn, which has not been processed yet.
 * - `background`: Claude has finished, background tasks keep the turn open.
 * - `grading`: Claude has finished, and a grader evaluates the outcome. Its verdict continues or ends the session's work.
 * - `ending`: the end is being written to the log.
 */
export type TurnState = Progress &
  (
    | { readonly type: "idle" }
    | { readonly type: "starting" | "running" | "waiting" | "settling" | "grading" | "ending"; readonly turn: Turn }
    | { readonly type: "quotaWait"; readonly turn: Turn; readonly until: number }
    | { readonly type: "background"; readonly turn: Turn; readonly end: TurnEnd }
  );

type Type = TurnState["type"];
type ActiveState = Exclude<TurnState, { type: "idle" }>;

export type TurnEvent =
  /**
   * A turn begins with a message, or with answers for a process that is gone. In `background`, the open turn continues. In
   * `grading`, a verdict is the message.
   */
  | { type: "begin"; at: number; message?: EventId }
  /** A former writer left this turn open. */
  | { type: "inherit"; at: number; messages: readonly EventId[]; quotaWaits: number }
  /** Claude has its prompt. */
  | { type: "prompted" }
  /** Claude works by itself, or has taken a steering message. */
  | { type: "working"; at: number; message?: EventId }
  | { type: "claudeEnded" }
  /** Claude has finished, and background tasks are still running. */
  | { type: "rest"; end: TurnEnd }
  /** The process was released while calls wait for answers. */
  | { type: "suspend" }
  | { type: "waitForQuota"; until: number; isNew: boolean }
  /** A new process continues the turn. */
  | { type: "resume" }
  | { type: "interrupt" }
  | { type: "limit"; reason: StopReason; events: readonly SessionEventBody[] }
  | { type: "end" }
  | { type: "ended" }
  /** A grader evaluates the turn that has ended, or that a former writer left. */
  | { type: "grade"; at: number }
  /** Another worker continues the turn, or the session is lost. Nothing more is written here. */
  | { type: "abandon" }
  | { type: "requestStarted" }
  | { type: "requestEnded" }
  /** An event of the agent: the result of its last open call, or anything else. */
  | { type: "agentEvent"; isLastResult: boolean }
  | CallEvent;

export const NO_TURN: TurnState = {
  type: "idle",
  calls: NO_CALLS,
  requests: 0,
  isAnswering: false,
  isBetweenSteps: false,
};

const OPEN: readonly Type[] = ["starting", "running", "waiting", "quotaWait", "settling", "background", "grading"];
const ACTIVE: readonly Type[] = [...OPEN, "ending"];
const ANY: readonly Type[] = ["idle", ...ACTIVE];

/** The states in which each event may occur. An event in any other state is a bug. */
const ALLOWED: Record<Exclude<TurnEvent["type"], CallEvent["type"]>, readonly Type[]> = {
  begin: ["idle", "background", "grading"],
  inherit: ["idle"],
  prompted: ["starting"],
  working: ["idle", "starting", "running", "background"],
  claudeEnded: OPEN,
  rest: OPEN,
  suspend: OPEN,
  waitForQuota: OPEN,
  resume: OPEN,
  interrupt: ACTIVE,
  limit: ACTIVE,
  end: OPEN,
  ended: ["ending"],
  grade: ["starting", "ending"],
  abandon: ANY,
  requestStarted: ANY,
  requestEnded: ANY,
  agentEvent: ANY,
};

/** The next state. Throws if the event cannot occur in this state. */
export function transition(state: TurnState, event: TurnEvent): TurnState {
  if (isCallEvent(event)) return { ...state, calls: applyCallEvent(state.calls, event) };
  if (!ALLOWED[event.type].includes(state.type)) {
    throw new Error(`A turn in the state "${state.type}" cannot take "${event.type}".`);
  }
  switch (event.type) {
    case "begin":
      return { ...progress(state), type: "starting", turn: joined(state, event) };
    case "working":
      return { ...progress(state), type: "running", turn: joined(state, event) };
    case "inherit": {
      const turn = newTurn(event.at, event.messages);
      return { ...progress(state), type: "starting", turn: { ...turn, quotaWaits: event.quotaWaits } };
    }
    case "requestStarted":
      return { ...state, requests: state.requests + 1 };
    case "requestEnded":
      return { ...state, requests: Math.max(0, state.requests - 1), isAnswering: false };
    case "agentEvent":
      return event.isLastResult
        ? { ...state, isBetweenSteps: !state.isAnswering }
        : { ...state, isBetweenSteps: false, isAnswering: state.requests > 0 };
    case "abandon":
      return NO_TURN;
    case "ended":
      return { ...NO_TURN, calls: state.calls };
    default:
      return state.type === "idle" ? state : within(state, event);
  }
}

type InnerEvent = Extract<
  TurnEvent,
  {
    type:
      | "prompted"
      | "claudeEnded"
      | "rest"
      | "suspend"
      | "waitForQuota"
      | "resume"
      | "interrupt"
      | "limit"
      | "grade"
      | "end";
  }
>;

function within(state: ActiveState, event: InnerEvent): TurnState {
  const { turn } = state;
  const base = progress(state);
  /** A released process has no request in flight. */
  const released = { ...base, requests: 0 };
  switch (event.type) {
    case "prompted":
      return { ...base, type: "running", turn };
    case "claudeEnded":
      return { ...base, type: "settling", turn };
    case "rest":
      return { ...base, type: "background", turn, end: event.end };
    case "suspend":
      return state.type === "quotaWait" ? { ...state, requests: 0 } : { ...released, type: "waiting", turn };
    case "waitForQuota": {
      const quotaWaits = turn.quotaWaits + (event.isNew ? 1 : 0);
      return { ...released, type: "quotaWait", turn: { ...turn, quotaWaits }, until: event.until };
    }
    case "resume":
      return { ...released, type: "starting", turn };
    case "interrupt":
      return { ...state, turn: { ...turn, stop: { ...turn.stop, isInterrupt: true } } };
    case "limit": {
      const { reason, events } = event;
      // The first limit that stops a turn is the reason of its end.
      if (turn.stop?.limit) return state;
      return { ...state, turn: { ...turn, stop: { isInterrupt: false, ...turn.stop, limit: { reason, events } } } };
    }
    case "grade":
      return { ...released, type: "grading", turn: newTurn(event.at, turn.messages) };
    case "end":
      return { ...base, type: "ending", turn };
  }
}

const progress = ({ calls, requests, isAnswering, isBetweenSteps }: TurnState): Progress => ({
  calls,
  requests,
  isAnswering,
  isBetweenSteps,
});

let lastId = 0;

function newTurn(at: number, messages: readonly EventId[]): Turn {
  lastId += 1;
  return { id: lastId, messages, startedAt: at, quotaWaits: 0 };
}

/** The open turn with one more message, or a new turn. */
function joined(state: TurnState, { at, message }: { at: number; message?: EventId }): Turn {
  const added = message === undefined ? [] : [message];
  if (state.type === "idle" || state.type === "grading") return newTurn(at, added);
  const { turn } = state;
  return { ...turn, messages: [...turn.messages, ...added.filter((id) => !turn.messages.includes(id))] };
}

const isCallEvent = (event: TurnEvent): event is CallEvent =>
  event.type.startsWith("call.") || event.type.startsWith("calls.");

export const turnOf = (state: TurnState): Turn | undefined => (state.type === "idle" ? undefined : state.turn);

/** Whether the turn cannot continue before a call is answered or a quota resets. */
export const isWaiting = (state: TurnState): boolean =>
  state.type === "quotaWait" || unanswered(state.calls).length > 0;

/** Whether the turn waits and the log says what for, so that any other writer can take the session over. */
export const isWaitLogged = (state: TurnState): boolean => state.type === "quotaWait" || isAnnounced(state.calls);

/** Whether a turn makes progress by itself. */
export const isBusy = (state: TurnState): boolean => state.type !== "idle" && !isWaitLogged(state);

/** Whether its calls can be answered without their process. A subagent's call ends with the process. */
export const canReleaseProcess = ({ calls }: TurnState): boolean =>
  unanswered(calls).every(({ thread }) => thread === null);

/** Whether a message can begin a turn, or continue one that only background tasks keep open. */
export const acceptsMessage = ({ type }: TurnState): boolean => type === "idle" || type === "background";

/** Whether a message can be passed to the running turn. */
export const canSteer = (state: TurnState): boolean =>
  (state.type === "running" || state.type === "settling") && !isWaiting(state);
