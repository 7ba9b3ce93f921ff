import type { History } from "../history.ts";
import { answersIn } from "../workload/order-text.ts";
import type { Invariant } from "./invariant.ts";
import { finalLog, processFaults, sessionsOf } from "./session-log.ts";

export const billTrue: Invariant = {
  name: "bill-true",
  promise:
    "The model is asked once for each step, again only after a fault, and the log has its replies once and unchanged.",
  check: (history) => [...logged(history), ...asked(history)],
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
