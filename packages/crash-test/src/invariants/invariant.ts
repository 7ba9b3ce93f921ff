import type { History } from "../operation-history.ts";

export interface Violation {
  invariant: string;
  message: string;
  session?: string;
}

/** A promise of the server that an outside observer can check. */
export interface Invariant {
  name: string;
  /** The promise, for reports. */
  promise: string;
  /** Sentences about what breaks the promise; none if it is kept. */
  check(history: History): Finding[];
}

export interface Finding {
  message: string;
  session?: string;
}
