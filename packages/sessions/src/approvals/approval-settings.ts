export interface ApprovalSettings {
  /** When an unanswered call is denied, and how long it may keep its process. In milliseconds. */
  approvals?: { expire?: number | undefined; keepProcess: number };
}
