import type { History } from "../operation-history.ts";
import type { Finding, Invariant } from "./invariant.ts";
import { callsOf, effectCount, sessionsOf, type LoggedCall } from "../observed-log.ts";

export const answeredOnce: Invariant = {
  name: "answered-once",
  promise: "One answer to a call counts: two clients cannot both be told that their different answers were taken.",
  check: (history) =>
    sessionsOf(history).flatMap((session) => callsOf(history, session).flatMap((call) => judge(history, call))),
};

function judge(
  history: History,
  { session, use, callId, confirmations, results, isCustom, isAsked }: LoggedCall,
): Finding[] {
  const logged = isCustom ? results : confirmations;
  const accepted = history.answers.filter(({ call, outcome }) => call === use.id && outcome === "accepted");
  const verdicts = new Set(accepted.map(({ verdict }) => verdict));
  const found: string[] = [];
  if (logged.length > 1) found.push(`${use.id} has ${logged.length} answers in the log.`);
  if (verdicts.size > 1) found.push(`${use.id} was acknowledged as allowed and as denied.`);
  const [confirmation] = confirmations;
  const [verdict] = verdicts;
  if (isAsked && confirmation && verdicts.size === 1 && confirmation.event["result"] !== verdict) {
    found.push(
      `${use.id} was acknowledged as "${verdict}", and the log says "${String(confirmation.event["result"])}".`,
    );
  }
  if (accepted.length > 0 && logged.length === 0) found.push(`The acknowledged answer to ${use.id} is not in the log.`);
  if (isAsked && confirmations.length === 0 && callId !== undefined && effectCount(history, callId) > 0) {
    found.push(`${use.id} (${callId}) ran, and the log has no answer that allows it.`);
  }
  return found.map((message) => ({ session, message }));
}
