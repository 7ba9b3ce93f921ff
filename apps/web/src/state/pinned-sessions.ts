import { StoredValue } from "../live/stored-value.ts";

/** Pinned sessions of this browser. */
export const pinnedSessions = new StoredValue<readonly string[]>("tandem.pins", []);

export const togglePin = (id: string): void =>
  pinnedSessions.change((all) => (all.includes(id) ? all.filter((other) => other !== id) : [...all, id]));
