import { callsOf, finalLog, isTurnEnd, sessionsOf } from "../observed-log.ts";
import type { Invariant } from "./invariant.ts";

export const callsClosed: Invariant = {
  name: "calls-closed",
  promise: "Every call has exactly one result before its turn ends.",
  check: (history) =>
    sessionsOf(history).flatMap((session) => {
      const log = finalLog(history, session);
      return callsOf(history, session).flatMap(({ use, index, results }) => {
        const name = `The call ${use.id}`;
        if (results.length > 1) return [{ session, message: `${name} has ${results.length} results.` }];
        const end = log.findIndex((event, place) => place > index && isTurnEnd(event));
        if (end === -1) return [];
        const [result] = results;
        if (!result) return [{ session, message: `${name} has no result, and its turn has ended.` }];
        const place = log.indexOf(result);
        if (place < index) return [{ session, message: `${name} has a result before the call itself.` }];
        return place < end ? [] : [{ session, message: `${name} has a result after the end of its turn.` }];
      });
    }),
};
