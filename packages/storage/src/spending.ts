import type { BudgetScope, BudgetUnit, SessionId } from "@tandem/protocol";
import type { Lease } from "./store.ts";

/** What several sessions spend from together. What one session alone may take is in its own log. */
export type SharedScope = Extract<BudgetScope, "agent" | "project" | "day">;

/** Of one unit. `of` is the agent's or project's name, or the day. */
export interface Account {
  scope: SharedScope;
  of: string;
  unit: BudgetUnit;
}

/** All amounts are integers: micro-dollars, milliseconds, or pieces. */
export interface Claim extends Account {
  /** What the session has spent in all, ever, as its log has it. */
  total: number;
  /** What it may be about to spend. */
  reserve: number;
  /** Null: it is only counted. */
  limit: number | null;
}

export interface AccountState extends Account {
  spent: number;
  reserved: number;
}

/** An account that has not so much left. `reserved` is what other sessions have. */
export interface Shortage extends AccountState {
  limit: number;
}

/**
 * Who has spent what, and who may be about to. A session's log is the truth about what it has spent: it states totals, so
 * that what is said twice counts once. A reservation is as good as the lease under which it was made: when that is given
 * back, runs out or is taken over, nothing is reserved any more, whatever became of the process.
 */
export interface Spending {
  /**
   * Counts what a session has spent since it was last counted, and reserves, instead of what it had reserved: on all these
   * accounts or none. What was spent is counted in any case. Returns the accounts that have not enough left; of what the
   * session had reserved there, what it has not spent stays then. What it had spent before it is first counted, as in a log
   * that was imported, was counted elsewhere or never, and is not counted here. Rejects with `LeaseLost`.
   */
  settle(lease: Lease, claims: readonly Claim[]): Promise<Shortage[]>;
  /** Accounts that something was ever spent from or reserved on. */
  read(query: { scope?: SharedScope; of?: string }): Promise<AccountState[]>;
  /** What a session has reserved, by unit. */
  reservedBy(session: SessionId): Promise<Partial<Record<BudgetUnit, number>>>;
}
