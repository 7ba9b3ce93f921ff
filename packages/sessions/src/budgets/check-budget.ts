import { listPriceOf, RequestError, type Budget, type SessionAgent } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { rosterOf } from "../log/agent-roster.ts";

/** An alias such as `sonnet` names the newest model of a family, whose price Claude Code reports. */
const isFullId = (model: string): boolean => model.includes("claude-");

/** A budget counts list prices: every model that the session can run must have one. */
export function checkBudgetable(agent: SessionAgent): void {
  const unpriced = [agent, ...rosterOf(agent)].find(({ model: { id } }) => isFullId(id) && !listPriceOf(id));
  if (!unpriced) return;
  const { name, model } = unpriced;
  throw new RequestError("invalid_request", `budget: the model ${model.id} of the agent ${name} has no list price.`, {
    detail: "model_not_budgetable",
    fix: "Choose another model, or limit tokens or requests with tandem.limits in the session's metadata.",
  });
}

/** Whether a session's budget may be replaced by this one. */
export function checkNewBudget(row: Pick<SessionRow, "agent" | "budget" | "usage">, budget: Budget): void {
  if (row.budget === null) {
    throw new RequestError("invalid_request", "budget: a session that began without a budget cannot be given one.", {
      detail: "budget_create_only",
    });
  }
  const spent = Number(row.usage.list_cost.amount);
  if (Number(budget.max_list_cost.amount) <= spent) {
    throw new RequestError("invalid_request", `budget: the session has spent ${spent} cents already.`, {
      detail: "budget_not_raised",
      fix: "Name a larger amount.",
    });
  }
  checkBudgetable(row.agent);
}
