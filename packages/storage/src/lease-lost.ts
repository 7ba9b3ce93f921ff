import { TandemError } from "@tandem/protocol";

/** Somebody else writes this log now, of a session or a job. Whoever gets this must stop its process and write nothing more. */
export class LeaseLost extends TandemError {
  readonly session: string;

  constructor(session: string) {
    super("lease_lost", `Another process has taken over ${session}.`);
    this.session = session;
  }
}
