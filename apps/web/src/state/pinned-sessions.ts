import { KeptValue } from "../live/kept-value.ts";

/** Sessions that this person wants at the top, here. */
export const pinnedSessions = new KeptValue<readonly string[]>("tandem.pins", []);

export const togglePin = (id: string): void =>
  pinnedSessions.change((all) => (all.includes(id) ? all.filter((other) => other !== id) : [...all, id]));
