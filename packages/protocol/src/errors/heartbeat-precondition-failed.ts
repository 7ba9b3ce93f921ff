import type { WorkState } from "../api/agents/work.ts";
import { TandemError } from "./tandem-error.ts";

/** The lease of a work item, as the server has it. */
export interface WorkLease {
  last_heartbeat: string | null;
  lease_extended: false;
  state: WorkState;
  ttl_seconds: number;
}

/** A heartbeat expected another one than the last: another worker may hold the lease. */
export class HeartbeatPreconditionFailed extends TandemError {
  readonly lease: WorkLease;

  constructor(lease: WorkLease) {
    super("heartbeat_precondition_failed", "The work item's last heartbeat is another one than expected.", {
      fix: "Another worker may hold the item. Poll for another one.",
    });
    this.lease = lease;
  }
}
