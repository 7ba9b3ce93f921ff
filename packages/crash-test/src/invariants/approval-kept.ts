import type { CallAnswer, History } from "../operation-history.ts";
import type { Finding, Invariant } from "./invariant.ts";
import {
  callsOf,
  effectCount,
  finalLog,
  isRequiresAction,
  isTurnEnd,
  sessionsOf,
  untilTurnEnd,
  waitsFor,
  type LoggedCall,
} from "../observed-log.ts";

export const approvalKept: Invariant = {
  name: "approval-kept",
  promise:
    "A call that needs approval waits for its answer: it is not forgotten, and it does not run before it is allowed.",
  check: (history) =>
    sessionsOf(history).flatMap((session) => callsOf(history, session).flatMap((call) => judge(history, call))),
};

function judge(history: History, call: LoggedCall): Finding[] {
  const { session, use, callId = "", isAsked, isCustom } = call;
  if (!isAsked && !isCustom) return [];
  const answers = history.answers.filter((answer) => answer.call === use.id);
  return [
    ...(isForgotten(history, call)
      ? [{ session, message: `${use.id} waited for a client, and its turn ended without an answer.` }]
      : []),
    ...(isAsked && ranTooEarly(history, callId, answers)
      ? [{ session, message: `${use.id} (${callId}) ran before a client had allowed it.` }]
      : []),
    ...(call.confirmations.some(({ event }) => event["result"] === "deny") && effectCount(history, callId) > 0
      ? [{ session, message: `${use.id} (${callId}) was denied, and it ran.` }]
      : []),
  ];
}

/** A client was asked for an answer, the turn has ended, and the log has neither an answer nor an interrupt. */
function isForgotten(history: History, { session, use, index, confirmations, results, isCustom }: LoggedCall): boolean {
  const log = finalLog(history, session);
  const turn = untilTurnEnd(log, index);
  const isOver = turn.some(isTurnEnd);
  const wasAnnounced = turn.some((event) => isRequiresAction(event) && waitsFor(event).includes(use.id));
  const isAnswered = isCustom ? results.length > 0 : confirmations.length > 0;
  const isInterrupted = turn.some(({ type }) => type === "user.interrupt");
  return wasAnnounced && isOver && !isAnswered && !isInterrupted;
}

function ranTooEarly({ effects }: History, callId: string, answers: readonly CallAnswer[]): boolean {
  const allowedAt = Math.min(...answers.filter(({ verdict }) => verdict === "allow").map(({ sentAt }) => sentAt));
  return effects.some(({ id, at }) => id === callId && at < allowedAt);
}
