import type { Approval, ApprovalAnswer, ApprovalStatus } from "@tandem/protocol";

/** Pending and resolved approvals of all sessions. */
export interface Approvals {
  /** Newest first. `cursor` is the `next` of the previous page. */
  list(query: {
    status: ApprovalStatus;
    session?: string;
    limit: number;
    cursor?: string;
  }): Promise<{ data: Approval[]; next: string | null }>;
  get(id: string): Promise<Approval>;
  /**
   * Answers in the name of `by`. The first answer wins: others get `conflict` with the first caller's name. Repeating the same
   * answer is allowed. Resolves when the answer is taken, or after some seconds while it is durably queued. `mayKeepRules`
   * permits rules that outlive the session or are wider than the suggestion.
   */
  answer(id: string, answer: ApprovalAnswer, by: string, mayKeepRules?: boolean): Promise<Approval>;
}
