import type { Conversation, TurnEnd } from "@tandem/claude-code";
import type { CutShort, EventId, Interruption, SessionEventBody, StopReason } from "@tandem/protocol";
import type { SessionChange, SessionRow } from "@tandem/storage";
import { errorDetail } from "../log/error-detail.ts";
import { closing, type OpenCall, type Placed } from "../log/open-turn.ts";
import { usageEvent, type UsageLedger } from "../log/usage-ledger.ts";
import type { StopRequest } from "./turn-state.ts";

export function stopReason(end: TurnEnd, stop?: StopRequest): StopReason {
  if (stop?.limit) return stop.limit.reason;
  switch (end.stop) {
    case "end_turn":
    case "interrupted":
      return { type: "end_turn" };
    case "refusal":
      return { type: "refusal" };
    case "max_turns":
    case "error":
      return { type: "retries_exhausted" };
  }
}

/** The session's row after a turn that ended for this reason. */
export const idleChange = (reason: StopReason): SessionChange => ({
  status: "idle",
  waitingFor: [],
  parked: null,
  cutShort: cutShortOf(reason),
});

/** Null if the turn completed, or is still open. */
export const cutShortOf = ({ type }: StopReason): CutShort | null =>
  type === "end_turn" || type === "requires_action" ? null : type;

/** Output, usage and error of a turn, for the log: at its end, or when only background tasks are left of it. */
export function accountsOf(end: TurnEnd, ledger: UsageLedger, row: SessionRow): SessionEventBody[] {
  const mismatch = ledger.reconcile(end.reported);
  return [
    ...(mismatch ? [{ type: "tandem.usage_mismatch" as const, ...mismatch }] : []),
    ...(end.output === undefined ? [] : [{ type: "tandem.output" as const, value: end.output }]),
    usageEvent(ledger, row),
    ...(end.error ? [{ type: "session.error" as const, error: end.error }] : []),
  ];
}

/** Results for the calls that the end of their turn leaves without one. */
export function cutOff(calls: Iterable<OpenCall>, why: Interruption, isUnstarted: (id: EventId) => boolean): Placed[] {
  return [...calls].map((call) => closing(call, why, isUnstarted(call.use.id) ? UNRUN : UNKNOWN));
}

const UNRUN = "The turn ended before this call ran. It did not run.";
const UNKNOWN = "The turn ended before this call had a result. Its effect is unknown.";

/** An error event if the transcript could not be stored: the conversation cannot be resumed from this turn then. */
export async function unsavedOf(conversation: Conversation | undefined): Promise<SessionEventBody[]> {
  try {
    await conversation?.flush();
    return [];
  } catch (error) {
    return [{ type: "session.error", error: errorDetail(error) }];
  }
}
