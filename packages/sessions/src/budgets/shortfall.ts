import type { BudgetGauge, BudgetScope, BudgetUnit, SessionEventBody } from "@tandem/protocol";
import type { Refusal } from "../hooks/turn-hook.ts";
import { inWords, toShown } from "./amounts.ts";

/** A limit that is too small for a reservation. */
export interface Shortfall {
  scope: BudgetScope;
  of: string;
  unit: BudgetUnit;
  spent: number;
  /** Reserved by others. */
  reserved: number;
  limit: number;
  /** The amount that could not be reserved. */
  wanted: number;
  /** True for the session's `budget`, for which the API has its own wording. */
  isBudget?: true;
  /** A model's price is unknown: the most expensive was assumed. */
  isAssumed?: boolean;
}

/** The error that refuses or ends a turn. */
export function refusalOf(short: Shortfall, payer: string | null): Refusal {
  const { scope, of, unit } = short;
  const shown = (amount: number): number => toShown(unit, amount);
  const gauge: BudgetGauge = {
    scope,
    of,
    unit,
    payer,
    spent: shown(short.spent),
    reserved: shown(short.reserved),
    limit: shown(short.limit),
  };
  const events: SessionEventBody[] = short.isBudget
    ? []
    : [{ type: "tandem.budget", gauge, reason: describeShortfall(short) }];
  return { reason: { type: "budget_reached" }, events };
}

const WHO: Record<BudgetScope, string> = {
  turn: "The turn",
  session: "The session",
  agent: "The agent",
  project: "The project",
  day: "All sessions of the day",
};

export function describeShortfall({ scope, unit, spent, reserved, limit, wanted, isAssumed }: Shortfall): string {
  const used = `${WHO[scope]} used ${inWords(unit, spent)} of ${inWords(unit, limit)}`;
  const held = reserved > 0 ? `, and ${inWords(unit, reserved)} is reserved by other calls` : "";
  const next = wanted > 0 && spent < limit ? `; the next request may take ${inWords(unit, wanted)}` : "";
  const assumed =
    next && unit === "usd" && isAssumed ? " (the model's price is unknown; the highest price is assumed)" : "";
  return `${used}${held}${next}${assumed}.`;
}
