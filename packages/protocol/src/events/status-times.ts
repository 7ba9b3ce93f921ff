import type { SessionEvent } from "./session-event.ts";

/** The events that change what a session does. */
export const STATUS_EVENTS = [
  "session.status_running",
  "session.status_idle",
  "session.status_rescheduled",
  "session.status_terminated",
  "tandem.recovered",
] as const;

/** How long a session was active, and how long it waited for a person. */
export interface SessionTimes {
  /** Time in the status `running`. */
  activeMs: number;
  /** Time in the status `idle` with calls that need an answer: approvals, questions, plans, results of custom tools. */
  waitedMs: number;
}

/** Derives a session's times from its log. It gets the events in order. */
export class StatusTimes {
  #status: "running" | "waiting" | "other" = "other";
  #since = 0;
  #last: string | null = null;
  #activeMs: number;
  #waitedMs = 0;

  /** `runningSince`: set if the session is in the status `running`. */
  constructor(before: { activeMs?: number; runningSince?: number } = {}) {
    this.#activeMs = before.activeMs ?? 0;
    if (before.runningSince === undefined) return;
    this.#status = "running";
    this.#since = before.runningSince;
  }

  note(event: SessionEvent): void {
    const at = Date.parse(event.processed_at ?? "");
    switch (event.type) {
      case "session.status_running":
        this.#enter("running", at);
        break;
      case "session.status_idle":
        this.#enter(event.stop_reason.type === "requires_action" ? "waiting" : "other", at);
        break;
      case "session.status_rescheduled":
      case "session.status_terminated":
        this.#enter("other", at);
        break;
      case "tandem.recovered":
        // No process worked between the last event and the recovery.
        if (this.#status === "running" && this.#last !== null) this.#enter("running", Date.parse(this.#last));
        this.#since = at;
        break;
      default:
    }
    if (event.processed_at !== null) this.#last = event.processed_at;
  }

  /** The times up to the last change of the status. */
  get settled(): SessionTimes {
    return { activeMs: this.#activeMs, waitedMs: this.#waitedMs };
  }

  at(now: number): SessionTimes {
    const open = Math.max(0, now - this.#since);
    return {
      activeMs: this.#activeMs + (this.#status === "running" ? open : 0),
      waitedMs: this.#waitedMs + (this.#status === "waiting" ? open : 0),
    };
  }

  #enter(status: "running" | "waiting" | "other", at: number): void {
    ({ activeMs: this.#activeMs, waitedMs: this.#waitedMs } = this.at(at));
    this.#status = status;
    this.#since = at;
  }
}
