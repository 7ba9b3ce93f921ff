import { z } from "zod";
import { budgetGauge, limits } from "../../config/limits.ts";
import { listOf } from "../page.ts";

const halt = z
  .object({ at: z.string(), by: z.string().meta({ description: "The token's name." }), reason: z.string().nullable() })
  .meta({ id: "Halt" });

const stopped = z.object({ stopped: halt.nullable() });

export const budgetsApi = {
  "budgets.list": { response: listOf(budgetGauge) },
  "budgets.set": {
    body: z
      .strictObject({
        scope: z.enum(["agent", "project", "day", "session"]),
        of: z.string().min(1).max(1_000).optional(),
        limits,
      })
      .meta({ id: "SetBudget" }),
    response: listOf(budgetGauge),
  },
  "budgets.session": { response: listOf(budgetGauge) },
  "emergency.state": { response: stopped },
  "emergency.stop": {
    body: z.strictObject({ reason: z.string().min(1).max(500).optional() }).default({}),
    response: z.object({ stopped: halt, interrupted: z.int() }),
  },
  "emergency.resume": { response: stopped },
};
