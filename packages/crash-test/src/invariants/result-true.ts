import type { History } from "../operation-history.ts";
import { orderOfCall } from "../order-text.ts";
import type { Finding, Invariant } from "./invariant.ts";
import {
  callsOf,
  effectCount,
  finalLog,
  firstSeenAt,
  processFaults,
  sessionsOf,
  untilTurnEnd,
  type LoggedCall,
} from "../observed-log.ts";

export const resultTrue: Invariant = {
  name: "result-true",
  promise:
    "The result of a call is true: it ran if it says so, did not run if it says so, and is unknown only after a fault.",
  check: (history) =>
    sessionsOf(history).flatMap((session) => callsOf(history, session).flatMap((call) => judge(history, call))),
};

const NOT_RUN =
  /did not run|(has|have|was|were) not (been )?run|before (this|the) call ran|denied|rejected|refused|cancelled/i;
const UNKNOWN = /unknown|may have (run|taken effect)/i;

function judge(history: History, call: LoggedCall): Finding[] {
  const { session, use, callId, isCustom, results, confirmations, index } = call;
  const [result] = results;
  if (callId === undefined || !result) return [];
  const found = (message: string): Finding[] => [{ session, message: `${use.id} (${callId}) ${message}` }];
  if (isCustom) {
    const isOurs = history.answers.some((answer) => answer.call === use.id);
    return isOurs || result.event["is_error"] === true ? [] : found("has a result that no client sent.");
  }
  const count = effectCount(history, callId);
  const said = JSON.stringify(result.event["content"] ?? "");
  const turn = untilTurnEnd(finalLog(history, session), index);
  if (result.event["is_error"] !== true) {
    if (count === 0) return found(`is reported as successful, and it had no effect.`);
    // A client may have answered a question about the outcome of a call that was cut off.
    const wasAsked = turn.some(({ event }) => event["name"] === "ask_user_question");
    return said.includes(`effect ${callId}`) || wasAsked ? [] : found(`is reported as successful, without its output.`);
  }
  const isUnknown = UNKNOWN.test(said);
  if (!isUnknown && NOT_RUN.test(said) && count > 0)
    return found(`is reported as not run, and it took effect: ${said}`);
  const isDenied = confirmations.some(({ event }) => event["result"] === "deny");
  const isInterrupted = turn.some(({ type }) => type === "user.interrupt");
  if (isDenied || isInterrupted) return [];
  const sentAt = history.orders.find(({ key }) => key === orderOfCall(callId))?.sentAt ?? 0;
  if (processFaults(history, sentAt, firstSeenAt(history, session, result.id)).length > 0) return [];
  return found(`failed although nothing had happened to the server: ${said}`);
}
