import type { History } from "../operation-history.ts";
import { answersIn, ordersIn } from "../order-text.ts";
import type { Finding, Invariant } from "./invariant.ts";
import {
  finalLog,
  firstSeenAt,
  isTurnEnd,
  processFaults,
  sessionsOf,
  stopReason,
  untilTurnEnd,
} from "../observed-log.ts";

export const completedHasAnswer: Invariant = {
  name: "completed-has-answer",
  promise:
    "A turn reported as completed has its answer; one that ended without it says why, and a fault explains that.",
  check: (history) => sessionsOf(history).flatMap((session) => judge(history, session)),
};

function judge(history: History, session: string): Finding[] {
  const log = finalLog(history, session);
  return log.flatMap((message, index) => {
    const order = message.type === "user.message" ? ordersIn(message.json)[0] : undefined;
    if (!order) return [];
    const turn = untilTurnEnd(log, index);
    const end = turn.at(-1)!;
    const isAnswered = turn.some(
      ({ type, json }) => type === "agent.message" && answersIn(json).some(({ key }) => key === order.key),
    );
    if (isAnswered || !isTurnEnd(end) || turn.some(({ type }) => type === "user.interrupt")) return [];
    const error = turn.find(({ type }) => type === "session.error");
    const reason = stopReason(end.event);
    if (!error && (reason === "end_turn" || reason === undefined)) {
      return [{ session, message: `The turn of ${order.key} ended as completed, without an answer.` }];
    }
    const sentAt = history.orders.find(({ key }) => key === order.key)?.sentAt ?? 0;
    if (processFaults(history, sentAt, firstSeenAt(history, session, end.id)).length > 0) return [];
    const said = error ? error.json : String(reason);
    return [
      { session, message: `The turn of ${order.key} failed although nothing had happened to the server: ${said}` },
    ];
  });
}
