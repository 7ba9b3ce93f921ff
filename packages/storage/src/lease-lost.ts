import { TandemError } from "@tandem/protocol";

/** Somebody else writes this log now, of a session or a job. Whoever gets this must stop its process and write nothing more. */
export class LeaseLost extends TandemError {
  readonly session: string;

  constructor(session: string, message = `Another process has taken over ${session}.`) {
    super("lease_lost", message);
    this.session = session;
  }
}
