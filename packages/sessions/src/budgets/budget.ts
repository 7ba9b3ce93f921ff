import type { Budget } from "@tandem/protocol";
import type { EventLog, SessionRow } from "@tandem/storage";

/** Whether this amount reaches the budget. */
const budgetReached = (budget: Budget | null, usd: number): boolean =>
  budget !== null && usd * 100 >= Number(budget.max_list_cost.amount);

const TYPES = ["session.status_idle", "session.status_running", "session.updated", "tandem.budget"];

/** Whether a session is idle because its `budget` is exhausted or too small for a response: it then rejects messages. */
export async function standsAtBudget(log: EventLog, row: SessionRow): Promise<boolean> {
  const usd = row.microUsd === undefined ? Number(row.usage.list_cost.amount) / 100 : row.microUsd / 1_000_000;
  if (budgetReached(row.budget, usd)) return true;
  if (!row.budget || row.status !== "idle") return false;
  const [last, before] = (await log.read(row.id, { order: "desc", limit: 10, types: TYPES }))
    .map(({ event }) => event)
    .filter((event) => event.type !== "session.updated" || "budget" in event);
  const isReached = last?.type === "session.status_idle" && last.stop_reason.type === "budget_reached";
  return isReached && before?.type !== "tandem.budget";
}
