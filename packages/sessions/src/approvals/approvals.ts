import type { Approval, ApprovalAnswer, ApprovalStatus } from "@tandem/protocol";

/** What waits for a person, over all sessions, and what has. */
export interface Approvals {
  /** The newest first. `cursor` is the `next` of the page before. */
  list(query: {
    status: ApprovalStatus;
    session?: string;
    limit: number;
    cursor?: string;
  }): Promise<{ data: Approval[]; next: string | null }>;
  get(id: string): Promise<Approval>;
  /**
   * Answers in the name of `by`. Whoever is first wins: the others get `conflict`, with who that was; the same answer by the
   * same again is fine. Resolves when it has been taken, or after some seconds when it waits, durably, to be taken.
   * Only who `mayKeepRules` may have a rule kept for more than the session, or one that is wider than the suggestion.
   */
  answer(id: string, answer: ApprovalAnswer, by: string, mayKeepRules?: boolean): Promise<Approval>;
}
