import type { Invariant } from "./invariant.ts";

export const sessionSettles: Invariant = {
  name: "session-settles",
  promise: "No session is stuck: each becomes idle within a bound after its last answer.",
  check: ({ settled }) =>
    settled
      .filter(({ isSettled }) => !isSettled)
      .map(({ session, waitedMs, detail }) => ({
        session,
        message: `It is not idle after ${Math.round(waitedMs / 1_000)} s: ${detail}`,
      })),
};
