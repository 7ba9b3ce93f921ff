import type { Invariant } from "./invariant.ts";

export const acknowledgedKept: Invariant = {
  name: "acknowledged-kept",
  promise: "Everything that was acknowledged is there, once: messages, answers, sessions and agents.",
  check: (history) => {
    const { acknowledgements, created, reads } = history;
    const lost = acknowledgements.flatMap(({ session, event, type }) => {
      const last = reads.findLast((read) => read.session === session);
      const count = last?.events.filter(({ id }) => id === event).length ?? 0;
      if (count === 1) return [];
      const message =
        count === 0
          ? `${type} ${event} was acknowledged and is not in the log.`
          : `${type} ${event} is in the log ${count} times.`;
      return [{ session, message }];
    });
    const gone = created.filter(({ isThere }) => !isThere);
    return [...lost, ...gone.map(({ type, id }) => ({ message: `The ${type} ${id} was created and is gone.` }))];
  },
};
