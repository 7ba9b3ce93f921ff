import type { SessionState } from "../operation-history.ts";
import type { Violation } from "../invariants/invariant.ts";

export interface FoundViolation extends Violation {
  /** 0 is the round without faults; -1 is after the end. */
  round: number;
  /** The end of the session's log. */
  log?: string[];
}

export interface CrashTestReport {
  name: string;
  seed: number;
  seconds: number;
  startedAt: string;
  /** `at` is when it began, in milliseconds. */
  faults: { kind: string; state: SessionState; at: number }[];
  skipped: { kind: string; reason: string }[];
  violations: FoundViolation[];
  patienceMs: number;
  /** Of the kinds of faults that only this system has. */
  descriptions?: Record<string, string>;
  /** The session of each conversation of Claude Code that has asked the model. */
  conversations: Record<string, string>;
  /** How many events of each type the logs have. */
  eventTypes?: Record<string, number>;
  counts: {
    sessions: number;
    messages: number;
    acknowledgements: number;
    calls: number;
    answers: number;
    events: number;
    modelRequests: number;
    streams: number;
  };
}
