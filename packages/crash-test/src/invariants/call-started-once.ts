import { callsOf, effectCount, sessionsOf } from "../observed-log.ts";
import type { Invariant } from "./invariant.ts";

export const callStartedOnce: Invariant = {
  name: "call-started-once",
  promise: "No call starts twice, and no call starts that is not in the log.",
  check: (history) => {
    const calls = sessionsOf(history).flatMap((session) => callsOf(history, session));
    const ran = [...new Set(history.effects.map(({ id }) => id))];
    const doubled = ran.filter((id) => effectCount(history, id) > 1);
    const unlogged = ran.filter((id) => !calls.some((call) => call.callId === id));
    const listed = Map.groupBy(
      calls.filter(({ callId }) => callId !== undefined),
      ({ callId }) => callId,
    );
    return [
      ...doubled.map((id) => ({ message: `The call ${id} ran ${effectCount(history, id)} times.` })),
      ...unlogged.map((id) => ({ message: `The call ${id} ran, and the log has no such call.` })),
      ...[...listed].flatMap(([id, twins]) =>
        twins.length === 1
          ? []
          : [{ session: twins[0]!.session, message: `The call ${id} is in the log ${twins.length} times.` }],
      ),
    ];
  },
};
