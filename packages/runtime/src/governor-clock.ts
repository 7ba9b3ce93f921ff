import { systemClock, type Clock } from "@tandem/protocol";

/** Time and randomness, injected so that tests are instant and deterministic. */
export interface GovernorClock extends Pick<Clock, "now" | "after"> {
  /** In the range [0, 1). */
  random(): number;
}

export const governorClock: GovernorClock = { ...systemClock, random: () => Math.random() };
