import type { History } from "../operation-history.ts";
import { answersIn } from "../order-text.ts";
import type { Invariant } from "./invariant.ts";
import { finalLog, firstSeenAt, processFaults, sessionsOf, untilTurnEnd } from "../observed-log.ts";

/** A request may be on its way when the interrupt is logged. */
const ON_ITS_WAY_MS = 10_000;

export const billTrue: Invariant = {
  name: "bill-true",
  promise:
    "The model is asked once for each step, again only after a fault, not after an interrupt, and the log has its replies once.",
  check: (history) => [...logged(history), ...asked(history), ...askedAfterInterrupt(history)],
};

function logged(history: History): { session: string; message: string }[] {
  const seen = new Map<string, number>();
  return sessionsOf(history).flatMap((session) => {
    const answers = finalLog(history, session)
      .filter(({ type }) => type === "agent.message")
      .flatMap(({ json }) => answersIn(json));
    return answers.flatMap(({ key, number }) => {
      const name = `${key}.${number}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      if (!history.replies.some((reply) => reply.order === key && reply.number === number && reply.type === "answer")) {
        return [{ session, message: `The answer ${name} is in the log, and the model did not give it.` }];
      }
      return seen.get(name) === 2 ? [{ session, message: `The answer ${name} is in the log more than once.` }] : [];
    });
  });
}

/** Each process fault during a turn may cost one repeated request. */
function asked(history: History): { session: string; message: string }[] {
  return history.orders.flatMap(({ key, session, sentAt, endedAt = Infinity }) => {
    const allowed = 1 + processFaults(history, sentAt, endedAt).length;
    return (["call", "answer"] as const).flatMap((type) => {
      const count = history.replies.filter((reply) => reply.order === key && reply.type === type).length;
      return count <= allowed
        ? []
        : [{ session, message: `The model was asked ${count} times for the ${type} of ${key}; ${allowed} expected.` }];
    });
  });
}

/** Also after a crash: an interrupt in the log has ended its turn. */
function askedAfterInterrupt(history: History): { session: string; message: string }[] {
  return history.orders.flatMap(({ key, session, text }) => {
    const log = finalLog(history, session);
    const from = log.findIndex(({ type, json }) => type === "user.message" && json.includes(text));
    const interrupt = from === -1 ? undefined : untilTurnEnd(log, from).find(({ type }) => type === "user.interrupt");
    if (!interrupt) return [];
    const until = firstSeenAt(history, session, interrupt.id) + ON_ITS_WAY_MS;
    const late = history.replies.filter(({ order, at }) => order === key && at > until);
    return late.length === 0 ? [] : [{ session, message: `The model was asked for ${key} after its interrupt.` }];
  });
}
