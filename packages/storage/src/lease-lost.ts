import { TandemError } from "@tandem/protocol";

/** Somebody else writes this session's log now. Whoever gets this must stop its process and write nothing more. */
export class LeaseLost extends TandemError {
  readonly session: string;

  constructor(session: string) {
    super("lease_lost", `Another process has taken over the session ${session}.`);
    this.session = session;
  }
}
