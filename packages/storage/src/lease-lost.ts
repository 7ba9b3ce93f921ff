import { TandemError } from "@tandem/protocol";

/**
 * Another process holds the lease of this log (a session's or a job's). The caller must stop its process and write
 * nothing more.
 */
export class LeaseLost extends TandemError {
  readonly session: string;

  constructor(session: string, message = `Another process has taken over ${session}.`) {
    super("lease_lost", message);
    this.session = session;
  }
}
