import type { BudgetScope, BudgetUnit, SessionId } from "@tandem/protocol";
import type { Lease } from "./lease.ts";

/** Budgets shared by several sessions. A session's own budget is tracked in its log. */
export type SharedScope = Extract<BudgetScope, "agent" | "project" | "day">;

/** `of` is the name of the agent or project, or the day. */
interface Account {
  scope: SharedScope;
  of: string;
  unit: BudgetUnit;
}

/** Amounts are integers: micro-dollars, milliseconds, or a count. */
export interface Claim extends Account {
  /** The session's cumulative total, from its log. */
  total: number;
  /** Amount to reserve. */
  reserve: number;
  /** Null: count without a limit. */
  limit: number | null;
}

/** Spending outside of sessions. */
export interface Charge extends Account {
  /** Negative to correct an earlier charge. */
  amount: number;
  /** Null: count without a limit. */
  limit: number | null;
}

export interface AccountState extends Account {
  spent: number;
  reserved: number;
}

/** An account without enough left. `reserved` is the amount held by other sessions. */
interface Shortage extends AccountState {
  limit: number;
}

/**
 * Shared spending and reservations. Sessions report cumulative totals from their logs, so a repeated report is counted
 * once. A reservation is valid only while its lease is: releasing, losing or expiring the lease frees it, even if the
 * process crashed.
 */
export interface Spending {
  /**
   * Counts the session's spending since the last call and replaces its reservations, on all accounts or none. The
   * spending is counted even if the reservation fails. Returns the accounts with too little left; there, the unspent
   * part of the old reservation stays. Spending before the first call (for example in an imported log) is not counted.
   * Rejects with `LeaseLost`.
   */
  settle(lease: Lease, claims: readonly Claim[]): Promise<Shortage[]>;
  /**
   * Counts spending of no session, on all accounts or none. Returns the accounts with too little left; then nothing was
   * counted. A caller charges the most that its work can cost, and corrects it afterwards: the charge of a process that
   * crashed in between stays.
   */
  charge(charges: readonly Charge[]): Promise<Shortage[]>;
  /** Accounts with any spending or reservation. */
  read(query: { scope?: SharedScope; of?: string }): Promise<AccountState[]>;
  /** The session's reservations by unit. */
  reservedBy(session: SessionId): Promise<Partial<Record<BudgetUnit, number>>>;
}
