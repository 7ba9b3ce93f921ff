import type { Budget } from "@tandem/protocol";

/** Whether so many dollars are all that a budget allows. */
export const budgetReached = (budget: Budget | null, usd: number): boolean =>
  budget !== null && usd * 100 >= Number(budget.max_list_cost.amount);
